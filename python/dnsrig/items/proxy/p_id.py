"""P-id: random IDs."""

from dns.rdatatype import RdataType

from dnsrig.items._chance import pattern
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

QUERIES = 40

ITEM = Item(
    id="P-id",
    role="proxy",
    group="Protection",
    requirement="The IDs of the proxy's queries cannot be guessed.",
    references=("RFC 5625 section 6.1", "RFC 5452 section 9.2"),
    severity=Severity.CRITICAL,
    consequence=(
        "Forged responses can be put into the proxy's cache, and before its clients, by who cannot see its queries."
    ),
    procedure="40 names are asked for one after the other by UDP; what the upstream saw does not follow a pattern.",
    dig=("dig @{server} -p {port} x.plain.rig.example A",),
    needs=("upstream",),
    faults=("proxy-sequential-ids",),
)


def check(subject: ProxySubject) -> Outcome:
    """Look at many queries."""
    seen = []
    for _ in range(QUERIES):
        through = subject.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None))
        if through.client.message is None:
            return subject.unanswered(through)
        seen += [one for one in through.forwarded if one.transport == "udp"]
    if len(seen) < QUERIES // 2:
        return inconclusive(f"The upstream got {len(seen)} of {QUERIES} queries by UDP.")
    numbers = [int.from_bytes(one.query[:2]) for one in seen]
    shown = Evidence("at the upstream, in this order", " ".join(str(number) for number in numbers))
    found = pattern(numbers)
    if found:
        return failed(f"They can be guessed: {found}.", shown)
    return passed(f"{len(set(numbers))} different ones in {len(numbers)} queries, without pattern.", shown)
