"""What is known of a server's silence, so that it is not waited for in full each time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query

SHORT_WAIT_S = 1.0
"""How long a query by TCP is waited for, once, when none like it was ever answered."""
SILENCES_BORNE = 6
"""So many queries by UDP that stay without response are waited for in full."""
HASTY_WAITS_S = (2.0, 3.0, 5.0)
"""How long the tries of later ones wait: resolvers that cannot reach servers try for longer than any
client waits, with each name anew, and items would have no time left."""


@dataclass(slots=True)
class Habits:
    """What became of queries with EDNS and without, by each transport; shared by what asks the same server."""

    _answered: set[tuple[Transport, bool]] = field(default_factory=set)
    _silent: set[tuple[Transport, bool]] = field(default_factory=set)
    _silences: int = 0

    def note(self, exchange: Exchange, waited_s: float = 0.0) -> None:
        """Keep in mind what became of a query, and whether it was waited for in vain for long."""
        kind = exchange.transport, exchange.query.payload is not None
        (self._silent if exchange.response is None else self._answered).add(kind)
        self._silences += exchange.timed_out and waited_s > sum(HASTY_WAITS_S)

    def expects_silence(self, transport: Transport, query: Query) -> bool:
        """Say whether queries like it, with EDNS or without, were never answered, and one was waited for in full."""
        kind = transport, query.payload is not None
        return kind in self._silent and kind not in self._answered

    def udp_waits_s(self, query: Query, waits_s: Sequence[float]) -> Sequence[float]:
        """Give how long each try by UDP waits, of those that are waited for else."""
        if self.expects_silence("udp", query):
            return waits_s[:1]
        is_shorter = sum(HASTY_WAITS_S) < sum(waits_s)
        return HASTY_WAITS_S if is_shorter and self._silences >= SILENCES_BORNE else waits_s
