"""How clients ask a resolver: over one transport, or each over one of several, by shares."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.loads import STANDARD_PORTS, Route
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, LABELS, EncryptedTransport

CLIENTS_TRANSPORTS = ("udp", "tcp", "dot", "doh")
"""What resolvers of today offer their clients; DoQ is too rare to be compared."""
IDLE_S = 10.0
"""Clients close connections that they do not use (RFC 7766 section 6.2.3)."""
TCP_CLIENTS = 4096
"""Connections that a resolver may have at a time where clients do not ask over UDP alone."""
_SHARE = re.compile(r"(?P<transport>[a-z]+)(?:=(?P<share>\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Mix:
    """Transports of clients, each with its share in per cent. One client has one transport for all its queries."""

    shares: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """Name it in file names: `udp`, `udp80+dot20`."""
        if len(self.shares) == 1:
            return self.shares[0][0]
        return "+".join(f"{transport}{share}" for transport, share in self.shares)

    @property
    def label(self) -> str:
        """Name it for readers."""
        if len(self.shares) == 1:
            return LABELS[self.shares[0][0]]
        return ", ".join(f"{LABELS[transport]} {share} %" for transport, share in self.shares)

    @property
    def encrypted_ports(self) -> dict[EncryptedTransport, int]:
        """Give the port of each of its encrypted transports."""
        used = {transport for transport, _ in self.shares}
        return {transport: STANDARD_PORTS[transport] for transport in ENCRYPTED_TRANSPORTS if transport in used}

    @property
    def has_sessions(self) -> bool:
        """Whether some clients open connections."""
        return any(transport != "udp" for transport, _ in self.shares)

    def routes(self, address: str, port: int, clients: int | None) -> tuple[Route, ...]:
        """Give the load's routes to a resolver; `port` is that of UDP and TCP."""
        return tuple(
            Route(
                transport,
                address,
                STANDARD_PORTS[transport] if transport in ENCRYPTED_TRANSPORTS else port,
                weight=share,
                clients=clients,
                idle_s=None if transport == "udp" else IDLE_S,
            )
            for transport, share in self.shares
        )


def read_mix(text: str) -> Mix:
    """Read `udp`, or shares in per cent such as `udp=80+dot=15+doh=5`.

    Raises:
        InputError: a transport is unknown or comes twice, or the shares do not make 100.

    """
    shares: list[tuple[str, int]] = []
    parts = text.split("+")
    for part in parts:
        found = _SHARE.fullmatch(part)
        if found is None or found["transport"] not in CLIENTS_TRANSPORTS:
            raise InputError(
                f"--transport: {part!r} is none of {', '.join(CLIENTS_TRANSPORTS)}, alone or by shares such as "
                "udp=80+dot=20"
            )
        if (found["share"] is None) != (len(parts) == 1):
            raise InputError(f"--transport: give {text!r} as one transport, or with a share for each: udp=80+dot=20")
        shares.append((found["transport"], int(found["share"] or 100)))
    if sum(share for _, share in shares) != 100:
        raise InputError(f"--transport: the shares of {text!r} make {sum(share for _, share in shares)} %, not 100")
    if len({transport for transport, _ in shares}) < len(shares) or not all(share for _, share in shares):
        raise InputError(f"--transport: a transport of {text!r} comes twice, or has no share")
    return Mix(tuple(shares))


def refuse_lacking(servers: Sequence[str], mixes: Sequence[Mix]) -> None:
    """Raise EnvironmentLacksError if a resolver cannot serve a transport that is wanted of it."""
    wanted = {transport for mix in mixes for transport in mix.encrypted_ports}
    for name in dict.fromkeys(servers):
        kind = resolver_driver(name)
        installation = kind.find()
        lacking = {} if installation is None else kind.lacking(installation)
        for transport in ENCRYPTED_TRANSPORTS:
            if transport in wanted and transport in lacking:
                raise EnvironmentLacksError(
                    f"{LABELS[transport]}: {lacking[transport]}; leave {name} out of --server, or {transport} out of "
                    "--transport"
                )
