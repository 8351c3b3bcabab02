"""P-same-question: clients that ask for the same at the same time."""

from dns.rdatatype import RdataType

from dnsrig.verification.at_once import udp_at_once
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

CLIENTS, ROUNDS = 6, 3
LATE_MS, WAIT_S = 300, 2.0

ITEM = Item(
    id="P-same-question",
    role="proxy",
    group="Protection",
    requirement="Clients that ask for the same name while its response is awaited all get it.",
    references=("RFC 5625 section 3", "RFC 5452 section 5"),
    severity=Severity.WARNING,
    consequence=(
        "Devices of a house that look for the same name at once, as after a failure of its line, wait for it one after "
        "the other."
    ),
    procedure=(
        f"{CLIENTS} clients, each from a port of its own and with an ID of its own, ask at once by UDP for one name, "
        f"whose response the upstream gives after {LATE_MS} ms; up to {ROUNDS} times, until all are answered. Where "
        "they never are, the same is done with a name for each."
    ),
    dig=("dig @{server} -p {port} x.late-300.rig.example A +noedns +tries=1   # from several windows at once",),
    needs=("upstream",),
    faults=("proxy-drops-repeated",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask at once for the same, and for different names where that fails."""
    rounds: list[list[Exchange]] = []
    for _ in range(ROUNDS):
        rounds.append(_unanswered(subject, [_query()] * CLIENTS))
        if not rounds[-1]:
            return passed(f"{CLIENTS} clients that ask for the same name at once are all answered.")
    lost = min(rounds, key=len)
    others = _unanswered(subject, [_query() for _ in range(CLIENTS)])
    said = f"At most {CLIENTS - len(lost)} of {CLIENTS} clients that ask for the same name at once are answered"
    # One or the other may be lost by the network.
    if others or len(lost) < CLIENTS / 2:
        return inconclusive(f"{said}, and {CLIENTS - len(others)} of as many that ask for different ones.", lost[0])
    return failed(f"{said}, in {ROUNDS} rounds; those that ask for different ones all are.", lost[0])


def _query() -> Query:
    return Query(name=names.fresh(names.late_by(LATE_MS)), rtype=RdataType.A, rd=True, payload=None)


def _unanswered(subject: ProxySubject, queries: list[Query]) -> list[Exchange]:
    """Ask all at once, each once; give those without response."""
    return [exchange for exchange in udp_at_once(subject.asker, queries, WAIT_S) if exchange.message is None]
