"""What a TARGET of `dnsrig verify path` means: a router or bridge of the rig, or a server's address beyond a path."""

import ipaddress
import platform
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.given_files import read_given_text
from dnsrig.hosts.namespace import ProgramFailedError
from dnsrig.hosts.network.existing import sockets_in
from dnsrig.hosts.network.topologies import PathNetwork, path_network
from dnsrig.verification.asker import Asker, SocketMaker
from dnsrig.verification.deviations import KnownFailures
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.habits import Habits
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.runner import Check, trust
from dnsrig.verification.subjects.path import Family, PathSubject, Way
from dnsrig.verification.upstream.server import Upstream

PORT = 53
OWN_PATHS: tuple[Literal["router", "bridge"], ...] = ("router", "bridge")
"""What the rig can put between a client and a server of its own: this kernel, as one or the other."""
NOWHERE = ("203.0.113.53", "2001:db8:53::53")
"""Addresses that the rig's server has, and answers no DNS at (RFC 5737, RFC 3849)."""


BRACES = "unexpected '}', expecting newline or semicolon"
BRACES_HINT = "\nnft(8) wants a line's end or a semicolon before and after each closing brace"


@dataclass(frozen=True, slots=True)
class OwnPath:
    """How the rig's own router or bridge is set up."""

    rules: Path | None = None
    """Its nftables rules, as a script of nft(8); its devices are `inner`, to the client, and `outer`."""
    mtu: int | None = None
    """Of the device towards the client, in octets."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Where the ends of a path of the user's are: network namespaces of this machine, by name or path."""

    server: str | None = None
    """Has the address that is verified, beyond the path."""
    client: str | None = None
    """None: this machine's own network."""
    nowhere: str | None = None
    """An address beyond the path at which nothing answers DNS; None leaves N-intercept inconclusive."""


@dataclass(frozen=True, slots=True)
class PathTarget:
    """A path that can be tried: what it is, where it is the rig's, and the subject."""

    version: str | None
    subject: PathSubject
    known: KnownFailures = field(default_factory=dict)
    """No path is known to fail."""
    limit_s: float | None = None
    """None: its items take as long as they do."""
    lateness: Lateness = field(default_factory=Lateness)
    """When the rig's servers were late; see `Target`."""
    check_survived: Check = trust
    """See that what the rig started has not ended by itself; see `Target`."""
    zones: tuple[str, ...] = ()
    """None: a path has no zones."""

    @property
    def subjects(self) -> Sequence[PathSubject]:
        """The one subject."""
        return (self.subject,)

    @property
    def endpoint(self) -> Endpoint:
        """What is asked through the path."""
        return next(iter(self.subject.ways.values())).asker.server

    def without(self) -> "PathTarget":
        """Give the same server, asked from beyond the path."""
        return PathTarget(None, self.subject.without(), lateness=self.lateness)


@contextmanager
def path_target(target: str, own: OwnPath, ends: Ends) -> Iterator[PathTarget]:
    """Make the network with the router or bridge that `target` names, or take the user's path to an address.

    Raises:
        InputError: `target` is neither; a namespace or a file with rules that is not there, rules that are none.
        EnvironmentLacksError: namespaces cannot be made or entered, or the address of the server cannot be taken.

    """
    if target in OWN_PATHS:
        with _own_path("router" if target == "router" else "bridge", own) as found:
            yield found
        return
    try:
        address = str(ipaddress.ip_address(target))
    except ValueError:
        known = " or ".join(OWN_PATHS)
        raise InputError(f"'{target}' is neither {known} nor the address of the server beyond the path") from None
    if ends.server is None:
        reason = f"{target}: --server-namespace is missing: the network namespace that has this address"
        raise InputError(f"{reason}, so that packets to it go by the path and not within this machine")
    with _users_path(address, ends.server, ends) as found:
        yield found


@contextmanager
def _own_path(kind: Literal["router", "bridge"], own: OwnPath) -> Iterator[PathTarget]:
    rules = "" if own.rules is None else read_given_text("--rules", own.rules, "give rules as a script of nft(8)")
    with path_network(kind, NOWHERE) as network, ExitStack() as stack:
        lateness = Lateness()
        ways = {
            family: stack.enter_context(_way(address, network.client.make_socket, network.server.make_socket, lateness))
            for family, address in _addresses(network).items()
        }
        if own.mtu is not None:
            # The client's own device stays wide: it would make the server send less by TCP.
            network.middle.set_mtu("inner", own.mtu)
        if own.rules is not None:
            _set_rules(network, own.rules, rules)
        version = f"Linux {platform.release()} as {kind}"
        there = [Endpoint(address, PORT) for address in NOWHERE if _family(address) in ways]
        nowhere = [Asker(endpoint, network.client.make_socket) for endpoint in there]
        nowhere_direct = [Asker(endpoint, network.server.make_socket) for endpoint in there]
        yield PathTarget(version, PathSubject(ways, nowhere, version, nowhere_direct), lateness=lateness)


@contextmanager
def _users_path(address: str, server_namespace: str, ends: Ends) -> Iterator[PathTarget]:
    lateness = Lateness()
    with ExitStack() as stack:
        beyond = stack.enter_context(sockets_in(server_namespace))
        here = socket.socket if ends.client is None else stack.enter_context(sockets_in(ends.client))
        try:
            way = stack.enter_context(_way(address, here, beyond, lateness))
        except OSError as error:
            reason = f"{address}: port {PORT} cannot be taken in {server_namespace}: {error.strerror}"
            raise EnvironmentLacksError(f"{reason}; is it an address of that namespace?") from error
        nowhere = [] if ends.nowhere is None else [Asker(Endpoint(ends.nowhere, PORT), here)]
        direct = [replace(one, make_socket=beyond) for one in nowhere]
        yield PathTarget(None, PathSubject({_family(address): way}, nowhere, nowhere_direct=direct), lateness=lateness)


@contextmanager
def _way(address: str, here: SocketMaker, beyond: SocketMaker, lateness: Lateness) -> Iterator[Way]:
    with Upstream(address, PORT, beyond, lateness=lateness) as server:
        yield Way(Asker(server.endpoint, here, habits=Habits()), Asker(server.endpoint, beyond), server)


def _set_rules(network: PathNetwork, path: Path, rules: str) -> None:
    # An empty set needs nft as well: what fails after that is the rules' fault.
    network.middle.set_rules("")
    try:
        network.middle.set_rules(rules, str(path))
    except ProgramFailedError as error:
        hint = BRACES_HINT if BRACES in error.said else ""
        raise InputError(f"--rules: nft refuses {error.said}{hint}") from error


def _addresses(network: PathNetwork) -> dict[Family, str]:
    pair = network.server_addresses
    return {"ipv4": pair.ipv4, "ipv6": pair.ipv6} if network.client.has_ipv6 else {"ipv4": pair.ipv4}


def _family(address: str) -> Family:
    return "ipv6" if ":" in address else "ipv4"
