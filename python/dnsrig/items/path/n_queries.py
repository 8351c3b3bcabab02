"""N-queries: DO, flags and EDNS options."""

from dataclasses import replace

import dns.edns
from dns.rdatatype import RdataType

from dnsrig.items.path._through import compare, ways
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import OPTION_OCTETS, UNASSIGNED_OPTION
from dnsrig.verification.verdicts import Outcome, Severity, passed

LONG_OPTION_OCTETS = 700
"""Makes a query longer than 512 octets, as updates, cookies and padding together do."""

ITEM = Item(
    id="N-queries",
    role="path",
    group="Changes",
    requirement="Queries come to the server as they were sent, with DO, flags and EDNS options.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.1.2", "JPRS-2010 case 6"),
    severity=Severity.ERROR,
    consequence="Resolvers behind the path get no signatures, or not what options are for.",
    procedure=(
        "Queries with DO, AD, CD and EDNS options, of EDNS version 1, of more than 512 octets, and with the header's "
        "reserved bit are sent by each version of IP, by UDP and TCP; what the server got is compared octet by octet."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +dnssec +adflag +cdflag +nsid",),
    faults=(
        "path-other-server",
        "path-clears-do",
        "path-clears-do-ipv6",
        "path-strips-options",
        "path-drops-edns-versions",
        "path-drops-long-queries",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    for family, transport in ways(subject):
        for query in _queries():
            wrong = compare(subject, family, query, of_query=True, transport=transport)
            if wrong is not None:
                return wrong
    return passed("Queries come octet by octet as they were sent.")


def _queries() -> list[Query]:
    option = dns.edns.GenericOption(UNASSIGNED_OPTION, OPTION_OCTETS)
    long_option = dns.edns.GenericOption(UNASSIGNED_OPTION, bytes(LONG_OPTION_OCTETS))
    usual = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, ad=True, cd=True, do=True)
    found = [
        usual,
        replace(usual, options=(option,)),
        replace(usual, options=(long_option,)),
        replace(usual, edns_version=1),
        replace(usual, payload=None, z=True),
    ]
    return [replace(query, name=names.fresh(names.PLAIN)) for query in found]
