"""F-do-upstream: DNSSEC records are asked for upstream."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="F-do-upstream",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver asks upstream with DO, also for clients that do not.",
    references=("RFC 4035 section 3.2.1",),
    severity=Severity.ERROR,
    consequence="Its cache fills with data without signatures, so clients with DO, and its own validation, lack them.",
    procedure=(
        "A name that is not in the cache is asked for with RD and without EDNS; the queries for it that came to the "
        "tree's servers have EDNS and DO."
    ),
    dig=("dig @{server} -p {port} h17.secure.nsec. A +noedns   # and look at what comes to the tree's servers",),
    needs=("upstream", "dnssec", "seen"),
    faults=("asks-without-do",),
)


HOSTS = 8
"""A resolver that lost a message may ask once without EDNS: what all of them show decides."""


def check(subject: ResolverSubject) -> Outcome:
    """Ask without EDNS, and look at what comes upstream."""
    seen: list[SeenQuery] = []
    for _ in range(HOSTS):
        name = subject.fresh_host()
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
        if exchange.message is None:
            return subject.unanswered(exchange)
        seen += subject.seen_of(name)
        if any(one.do for one in seen):
            break
    if not seen:
        return inconclusive("No query for a fresh host came to the tree; they may have been in the cache.", exchange)
    shown = Evidence(
        "queries for hosts at the tree's servers",
        "\n".join(f"{one.server} {one.transport} {one.name} EDNS {one.edns} DO {int(one.do)}" for one in seen),
    )
    having = sum(one.do for one in seen)
    if not having:
        return failed(f"None of {len(seen)} queries upstream had DO.", exchange, shown)
    return passed(f"{having} of {len(seen)} queries upstream had DO.", exchange, shown)
