"""What a server of the tree does wrong, for some names: changes of its responses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import dns.message
import dns.name

from dnsrig.verification.exchange import Transport
from dnsrig.verification.tree.loaded import LoadedZone


@dataclass(slots=True)
class Scene:
    """A query with the response that would be right."""

    query: dns.message.Message
    response: dns.message.Message
    """May be changed."""
    transport: Transport
    zones: Mapping[dns.name.Name, LoadedZone]
    """All zones of the tree."""

    @property
    def name(self) -> dns.name.Name:
        """What is asked for."""
        return self.query.question[0].name


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehaviour:
    """What a server does wrong with queries at and below a name."""

    name: str
    does: str
    """In words that go on after "The server"."""
    change: Callable[[Scene], dns.message.Message | None] | None = None
    """Gives the response that is sent instead; None: no response."""
    mangle: Callable[[bytes], bytes] | None = None
    """Changes the response's octets."""
    ahead: Callable[[Scene], list[bytes]] | None = None
    """Gives messages that come by UDP before the response, as an attacker's would."""
    ahead_from: Literal["server", "address", "port"] = "server"
    """Where those come from: where the response comes from, another address of the tree, or another port."""
    delay_s: float = 0.0
    """The response is held back for so long, what comes ahead of it is not."""
    refuses_tcp: bool = False
    """Connections are closed without a response."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent for a query."""

    ahead: Sequence[bytes]
    """Before the response, by UDP."""
    response: bytes | None
    wrong: Misbehaviour

    @property
    def messages(self) -> Sequence[bytes]:
        """All of it, in the order in which it is sent."""
        return self.ahead if self.response is None else [*self.ahead, self.response]


@dataclass(frozen=True, slots=True)
class Bound:
    """A misbehaviour, and where it shows."""

    misbehaviour: Misbehaviour
    suffix: str
    """At this name, with its final dot, and below."""
    servers: frozenset[int]
    """Indices of addresses."""
    only: str = ""
    """Only this name."""

    def fits(self, index: int, name: dns.name.Name) -> bool:
        """Say whether it shows in the answer of an address for a name."""
        if index not in self.servers or not name.is_subdomain(_name(self.suffix)):
            return False
        return not self.only or name == _name(self.only)


# Each query is held against all of them.
_name = cache(dns.name.from_text)
