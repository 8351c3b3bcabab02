"""Whether others are answered while connections stall, which items of several roles look at."""

from collections.abc import Callable

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.verdicts import Outcome, Shown, failed, inconclusive, passed

STALLED = 3
TRIES: dict[Transport, int] = {"udp": 4, "tcp": 1}
"""How often a query without response is asked while others stall: one by UDP may be lost on the way."""
REFERENCES = ("RFC 7766 section 6.2.2", "RFC 9210 section 4.2", "RFC 9210 section 4.5")
PROCEDURE = (
    f"{STALLED} connections are held open with a part of a query sent by each, and one by which nothing is sent; "
    "meanwhile {asked} asked for by UDP and by TCP."
)
Asking = Callable[[Transport], Exchange]


def check_stalled(asker: Asker, stalled: Query, ask: Asking) -> Outcome:
    """Stall, ask, and ask again without."""
    shown: tuple[Shown, ...] = ()
    for transport, tries in TRIES.items():
        try:
            with asker.tcp_stalled(stalled, STALLED):
                for _ in range(tries):
                    meanwhile = ask(transport)
                    if meanwhile.message is not None:
                        break
        except OSError as error:
            return inconclusive(f"{STALLED + 1} connections cannot be held: {error.strerror}.")
        if meanwhile.message is None:
            return _held_up(meanwhile, ask, transport)
        shown = (*shown, meanwhile)
    return passed(f"Others are answered by UDP and TCP while {STALLED} clients stall.", *shown)


def _held_up(meanwhile: Exchange, ask: Asking, transport: Transport) -> Outcome:
    after = ask(transport)
    if after.message is None:
        return inconclusive(f"Queries by {transport.upper()} are not answered afterwards either.", after)
    said = f"While {STALLED} clients stall, a query by {transport.upper()} gets {meanwhile.trouble}"
    return failed(f"{said}; afterwards one is answered.", meanwhile, after)
