"""What is known of a server's silence, so that it is not waited for in full each time."""

from dataclasses import dataclass, field

from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query

SHORT_WAIT_S = 1.0
"""How long a query by TCP is waited for, once, when none like it was ever answered."""


@dataclass(slots=True)
class Habits:
    """What became of queries with EDNS and without, by each transport; shared by what asks the same server."""

    _answered: set[tuple[Transport, bool]] = field(default_factory=set)
    _silent: set[tuple[Transport, bool]] = field(default_factory=set)

    def note(self, exchange: Exchange) -> None:
        """Keep in mind what became of a query."""
        kind = exchange.transport, exchange.query.payload is not None
        (self._silent if exchange.response is None else self._answered).add(kind)

    def expects_silence(self, transport: Transport, query: Query) -> bool:
        """Say whether queries like it, with EDNS or without, were never answered, and one was waited for in full."""
        kind = transport, query.payload is not None
        return kind in self._silent and kind not in self._answered
