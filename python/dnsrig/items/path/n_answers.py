"""N-answers: answers."""

from dns.rdatatype import RdataType

from dnsrig.items.path._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="N-answers",
    role="path",
    group="Changes",
    requirement="Responses come through the path as the server sent them.",
    references=("RFC 5625 section 3", "JPRS-2010 case 6"),
    severity=Severity.CRITICAL,
    consequence="Clients are led to other addresses, and validation fails.",
    procedure=(
        "Addresses, aliases, denials and errors are asked for; what the server sent and what the client got "
        "are compared octet by octet."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A", "dig @{server} -p {port} x.absent.rig.example A +dnssec"),
    needs=("ipv4",),
    faults=("path-other-server", "path-rewrites", "path-rewrites-nxdomain"),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    for what in (names.PLAIN, names.ALIAS, names.ABSENT, names.SECTIONS, names.SERVFAIL, names.EXPLAINED):
        for payload in (None, 1232):
            query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=payload)
            wrong = compare(subject, "ipv4", query, of_query=False)
            if wrong is not None:
                return wrong
    return passed("Responses come octet by octet as they were sent.")
