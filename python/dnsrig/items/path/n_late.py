"""N-late: responses that take long."""

from collections.abc import Sequence

from dns.rdatatype import RdataType

from dnsrig.items.path._families import judge_each
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

LATE_MS = 2500
QUERIES, GAP_S, WAIT_S = 5, 0.02, LATE_MS / 1e3 + 1.0
ENOUGH = 3
"""Of so many: the others may be lost anyhow."""
LATE_S = LATE_MS / 1e3

ITEM = Item(
    id="N-late",
    role="path",
    group="Changes",
    requirement=f"Responses by UDP come through the path {LATE_S:g} seconds after their queries.",
    references=("RFC 5625 section 3", "RFC 4787 section 4.3", "RFC 1035 section 4.2.1"),
    severity=Severity.WARNING,
    consequence=(
        "Names whose servers are slow or far, or that a resolver has to ask several for, fail behind the path: it "
        "forgets who asked."
    ),
    procedure=(
        f"By each version of IP {QUERIES} addresses are asked for once, to which the server responds after "
        f"{LATE_S:g} s; one of them is to come. Where none does, they are asked for again, without the path too, and "
        "beside them such as are answered at once."
    ),
    dig=(f"dig @{{server}} -p {{port}} x.late-{LATE_MS}.rig.example A +noedns +tries=1",),
    faults=("path-forgets-udp",),
)


def check(subject: PathSubject) -> Outcome:
    """Ask by all versions of IP at the same time, as it takes long, and judge each."""
    open_ = [family for family in subject.families if not subject.shut(family)]
    with thread_pool(max(len(open_), 1), "late") as pool:
        first = dict(zip(open_, pool.map(lambda family: _ask_late(subject.way(family).asker), open_), strict=True))
    found = judge_each(subject, lambda of, family: _judged(of, family, first.get(family, [])))
    if isinstance(found, Outcome):
        return found
    return passed(f"Responses that take {LATE_S:g} s come over {subject.spoken}.", *found[-1].evidence)


def _judged(subject: PathSubject, family: Family, first: Sequence[Exchange]) -> Outcome:
    if shut := subject.shut(family):
        return inconclusive(shut)
    if came := _answered(first):
        return passed("", came[0])
    way = subject.way(family)
    # The simple ones say whether what is lost is lost for being late.
    again = _ask_late(way.asker)
    simple = way.asker.udp_in_a_row([plain_query() for _ in range(QUERIES)], GAP_S, WAIT_S)
    direct = _ask_late(way.direct)
    said = f"Of {QUERIES} responses by {VERSIONS[family]} that take {LATE_S:g} s none comes"
    if len(_answered(direct)) < ENOUGH:
        return inconclusive(f"{said}; without the path {len(_answered(direct))} do.", first[0])
    if _answered(again) or len(_answered(simple)) < ENOUGH:
        told = f"asked again {len(_answered(again))} do, of those without delay {len(_answered(simple))}"
        return inconclusive(f"{said}; {told}.", first[0])
    told = f"without the path {len(_answered(direct))} do, and of those without delay {len(_answered(simple))}"
    return failed(f"{said}, twice; {told}.", first[0], _answered(direct)[0])


def _ask_late(asker: Asker) -> Sequence[Exchange]:
    """Send each once: what is sent again would remind the path of who asks."""
    late = [
        Query(name=names.fresh(names.late_by(LATE_MS)), rtype=RdataType.A, rd=True, payload=None)
        for _ in range(QUERIES)
    ]
    return asker.udp_in_a_row(late, GAP_S, WAIT_S)


def _answered(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.message is not None]
