"""Whether two queries that are sent at once from one port are both answered, as stubs send those for A and AAAA."""

from collections.abc import Sequence

from dns.rdatatype import RdataType

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

ROUNDS = 6
WAIT_S = 1.0
LATE_MS = 100
"""The first response comes when both queries have gone: some close what it came by."""


def _pair() -> Sequence[Query]:
    name = names.fresh(names.late_by(LATE_MS))
    return [Query(name=name, rtype=rtype, rd=True, payload=None) for rtype in (RdataType.A, RdataType.AAAA)]


def check_same_port(asker: Asker) -> Outcome:
    """Send both at once until both are answered; where they never are, see whether they are one by one."""
    for _ in range(ROUNDS):
        exchanges = asker.udp_in_a_row(_pair(), 0.0, WAIT_S)
        if not _missing(exchanges):
            return passed("Two queries that are sent at once from one port are both answered.", *exchanges)
    alone = [
        exchange for _ in range(ROUNDS) for query in _pair() for exchange in asker.udp_in_a_row([query], 0.0, WAIT_S)
    ]
    if len(_missing(alone)) * 4 > len(alone):
        return inconclusive(
            f"Of {len(alone)} queries from ports of their own {len(_missing(alone))} are not answered either."
        )
    reason = f"In {ROUNDS} rounds, never both of two queries that are sent at once from one port are answered"
    return failed(
        f"{reason}; {len(alone) - len(_missing(alone))} of {len(alone)} from ports of their own are.", *exchanges
    )


def _missing(exchanges: Sequence[Exchange]) -> Sequence[Exchange]:
    return [exchange for exchange in exchanges if exchange.message is None]
