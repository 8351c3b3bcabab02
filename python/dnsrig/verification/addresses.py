"""Where a server is, as users write it: an address or host name, with its port behind it or beside it."""

import ipaddress
import re
import socket
from collections.abc import Collection, Mapping, Sequence

from dnsrig.errors import InputError
from dnsrig.verification.exchange import Endpoint
from dnsrig.wording import NO_OTHER_NAMES, did_you_mean

WITH_PORT = re.compile(
    r"(?:\[(?P<bracketed>[^\]]+)\]:|(?P<host>[^:#@\[\]]+):|(?P<address>[^#@]+)[#@])(?P<port>[0-9]{1,5})"
)
"""An address or host name with its port: 192.0.2.53#5300 and 2001:db8::53#5300 as BIND, [2001:db8::53]:5300 as URLs."""
LARGEST_PORT = 65_535


def endpoint_of(
    target: str, port: int, known: Collection[str] = (), other_names: Mapping[str, str] = NO_OTHER_NAMES
) -> Endpoint:
    """Give the address that `target` is, or the first of the host that it names, with its own port or else `port`.

    `other_names` has what else people call what is `known`.

    Raises:
        InputError: it is neither, nor one of the names `known`.

    """
    # 2001:db8::53 is no host with a port; but behind % (RFC 4007) an address takes any text, also that of a port.
    has_port = not is_address(target) or any(sign in target for sign in "#@")
    with_port = WITH_PORT.fullmatch(target) if has_port else None
    if with_port is None:
        return Endpoint(_address_of(target, port, known, other_names), port)
    own = int(with_port["port"])
    if not 1 <= own <= LARGEST_PORT:
        raise InputError(f"'{target}': {own} is no port; they go from 1 to {LARGEST_PORT}")
    host = with_port["bracketed"] or with_port["host"] or with_port["address"]
    return Endpoint(_address_of(host, own, known, other_names), own)


def others_of(servers: Sequence[str], port: int, target: Endpoint | None) -> tuple[Endpoint, ...]:
    """Give the endpoints of `servers`, each once, without that of the target.

    Raises:
        InputError: one is no address or host.

    """
    found = dict.fromkeys(endpoint_of(server, port) for server in servers)
    return tuple(one for one in found if one != target)


def has_address(target: str) -> bool:
    """Say whether a target is an address, with or without a port, and so no host name."""
    with_port = WITH_PORT.fullmatch(target)
    return is_address(target) or (
        with_port is not None and is_address(with_port["bracketed"] or with_port["host"] or with_port["address"])
    )


def is_address(text: str) -> bool:
    """Say whether a text is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_near(endpoint: Endpoint) -> bool:
    """Say whether an address is this host's own, or one that only hosts of the same network reach."""
    address = ipaddress.ip_address(endpoint.address.partition("%")[0])
    if address.is_loopback or address.is_link_local or address.is_private:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as unsent:
        try:
            # Nothing is sent by this: the kernel says from which address it would be.
            unsent.connect((endpoint.address, endpoint.port))
        except OSError:
            return False
        return bool(unsent.getsockname()[0] == endpoint.address)


def _address_of(host: str, port: int, known: Collection[str], other_names: Mapping[str, str]) -> str:
    if is_address(host):
        return str(ipaddress.ip_address(host))
    try:
        return str(socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0][4][0])
    except (OSError, UnicodeError) as error:
        nor = f", no server of the rig ({', '.join(known)})," if known else ""
        why = error.strerror if isinstance(error, OSError) else "it is no host name"
        hint = did_you_mean(host, known, other_names)
        raise InputError(f"'{host}' is no address{nor} and as a host name: {why}{hint and f'; {hint}'}") from error
