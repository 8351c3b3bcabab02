"""N-queries: DO, flags and EDNS options."""

import dns.edns
from dns.rdatatype import RdataType

from dnsrig.items.path._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import OPTION_OCTETS, UNASSIGNED_OPTION
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="N-queries",
    role="path",
    group="Changes",
    requirement="Queries come to the server as they were sent, with DO, flags and EDNS options.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.1.2", "JPRS-2010 case 6"),
    severity=Severity.ERROR,
    consequence="Resolvers behind the path get no signatures, or not what options are for.",
    procedure="Queries with DO, AD, CD and EDNS options are sent; what the server got is compared octet by octet.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +dnssec +adflag +cdflag +nsid",),
    needs=("ipv4",),
    faults=("path-other-server", "path-clears-do", "path-strips-options"),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    option = dns.edns.GenericOption(UNASSIGNED_OPTION, OPTION_OCTETS)
    for options in ((), (option,)):
        query = Query(
            name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, ad=True, cd=True, do=True, options=options
        )
        wrong = compare(subject, "ipv4", query, of_query=True)
        if wrong is not None:
            return wrong
    return passed("Queries come octet by octet as they were sent.")
