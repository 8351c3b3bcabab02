"""By which way packets leave this machine, or a namespace; nothing is sent to find it out."""

import json
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dnsrig.hosts.network.existing import MakeSocket, call_in

IP_WAIT_S = 10.0
"""How long the program ip may take."""
ANY_PORT = 53


@dataclass(frozen=True, slots=True)
class Route:
    """Where packets to an address go."""

    device: str
    gateway: str = ""
    """"" where the address is on the link itself."""
    is_default: bool = False
    """Whether it is the route of all addresses that have none of their own."""


def route_to(address: str, namespace: str | None = None) -> Route | None:
    """Ask `ip route get` for the route to an address; None if it does not say."""

    def ask() -> Route:
        found = _asked(address)
        gateway = found.get("gateway") or found.get("via", {}).get("host", "")
        return Route(str(found["dev"]), str(gateway), _is_default(address))

    return _said(ask, namespace)


def source_towards(address: str, make_socket: MakeSocket = socket.socket) -> str | None:
    """Give the own address that packets to another have; None if there is no route."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with make_socket(family, socket.SOCK_DGRAM) as channel:
            channel.connect((address, ANY_PORT))
            return str(channel.getsockname()[0])
    except OSError:
        return None


def _said(ask: Callable[[], Route], namespace: str | None) -> Route | None:
    try:
        return ask() if namespace is None else call_in(namespace, ask)
    except (OSError, subprocess.SubprocessError, ValueError, LookupError, AttributeError):
        return None


def _is_default(address: str) -> bool:
    try:
        return _asked(address, "fibmatch").get("dst") == "default"
    except (subprocess.SubprocessError, ValueError, LookupError):
        # A kernel before 4.13 (fibmatch) does not say.
        return False


def _asked(address: str, *words: str) -> dict[str, Any]:
    command = ["ip", "-j", "route", "get", address, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=IP_WAIT_S, check=True)
    found: dict[str, Any] = json.loads(done.stdout)[0]
    return found
