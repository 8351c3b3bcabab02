"""N-queries: DO, flags and EDNS options."""

from dataclasses import replace

import dns.edns
import dns.name
import dns.opcode
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
OPTIONS = (
    dns.edns.GenericOption(UNASSIGNED_OPTION, OPTION_OCTETS),
    dns.edns.GenericOption(UNASSIGNED_OPTION, bytes(LONG_OPTION_OCTETS)),
    dns.edns.GenericOption(dns.edns.OptionType.NSID, b""),
    dns.edns.GenericOption(dns.edns.OptionType.COOKIE, bytes(range(8))),
    dns.edns.GenericOption(dns.edns.OptionType.PADDING, bytes(64)),
    dns.edns.ECSOption("192.0.2.0", 24),
)
OF_REVERSE_NAME = tuple(b"%x" % digit for digit in range(16)) * 2
"""As names below ip6.arpa have them."""
UNUSUAL = ((b"_25", b"_tcp"), (b"\xc3\xa9t\xc3\xa9",), (b"x" * 63, b"x" * 63, b"x" * 63), OF_REVERSE_NAME)
"""Labels at the front of names."""

ITEM = Item(
    id="N-queries",
    role="path",
    group="Changes",
    requirement="Queries come to the server as they were sent, with DO, flags and EDNS options.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.1.2", "JPRS-2010 case 6"),
    severity=Severity.ERROR,
    consequence="Resolvers behind the path get no signatures, not what options are for, or no answer.",
    procedure=(
        "Queries with DO, AD, CD and EDNS options in use and unknown, of EDNS version 1, of more than 512 octets, "
        "with the header's reserved bit, without RD, of other opcodes, and for names in mixed case, with underscores, "
        "beyond ASCII, long ones and such of many labels are sent by each version of IP, by UDP and TCP; what the "
        "server got is compared octet by octet."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +dnssec +adflag +cdflag +nsid",),
    faults=(
        "path-other-server",
        "path-clears-do",
        "path-clears-do-ipv6",
        "path-strips-options",
        "path-drops-edns-versions",
        "path-drops-long-queries",
        "path-lower-cases-queries",
        "path-drops-unusual-names",
        "path-drops-many-labels",
        "path-drops-cookies",
        "path-drops-updates",
        "path-sets-rd",
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
    usual = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, ad=True, cd=True, do=True)
    plain = replace(usual, payload=None, do=False, ad=False, cd=False)
    found = [
        usual,
        *(replace(usual, options=(option,)) for option in OPTIONS),
        replace(usual, edns_version=1),
        replace(plain, z=True),
        # As resolvers ask.
        replace(plain, rd=False),
        replace(usual, rd=False),
        # What is to be updated is named by its SOA record (RFC 2136 section 2.3, RFC 1996 section 3.7).
        *(replace(plain, rtype=RdataType.SOA, opcode=opcode) for opcode in (dns.opcode.NOTIFY, dns.opcode.UPDATE)),
    ]
    asked = [replace(query, name=names.fresh(names.PLAIN)) for query in found]
    return asked + [replace(plain, name=name) for name in _names()]


def _names() -> list[dns.name.Name]:
    """Give names in mixed case, with underscores, with octets beyond ASCII, long ones, and such of many labels."""
    mixed = dns.name.Name([label.title() for label in names.fresh(names.PLAIN).labels])
    return [mixed, *(dns.name.Name((*labels, *names.fresh(names.PLAIN).labels)) for labels in UNUSUAL)]
