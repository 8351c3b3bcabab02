"""N-answers: answers."""

import dns.name
import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.path._through import compare, ways
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

WHATS = (names.PLAIN, names.ALIAS, names.ABSENT, names.SECTIONS, names.SERVFAIL, names.EXPLAINED)
TYPES = (
    RdataType.AAAA,
    RdataType.MX,
    RdataType.TXT,
    RdataType.SRV,
    RdataType.CAA,
    RdataType.TLSA,
    RdataType.SVCB,
    RdataType.HTTPS,
    RdataType.DS,
    RdataType.DNSKEY,
    RdataType.SOA,
    RdataType.NS,
    RdataType.PTR,
    RdataType.NAPTR,
    RdataType.SSHFP,
    RdataType.make(65_280),
)
FOREIGN = ("www.example.com.", "example.net.", "dns.google.", "use-application-dns.net.")
"""Names outside the rig's zone, as lists of what is to be blocked or led elsewhere may have them."""
CHAOS = ("version.bind.", "id.server.")
"""Names by which servers tell who they are (RFC 4892)."""

ITEM = Item(
    id="N-answers",
    role="path",
    group="Changes",
    requirement="Responses come through the path as the server sent them.",
    references=("RFC 5625 section 3", "JPRS-2010 case 6"),
    severity=Severity.CRITICAL,
    consequence="Clients are led to other addresses, and validation fails.",
    procedure=(
        "Addresses, aliases, denials, errors, records of other types, one of them unknown, a name in mixed case, "
        "well-known names, and those of class CHAOS by which servers tell who they are, are asked for by each "
        "version of IP, by UDP and TCP; what the server sent and what the client got are compared octet by octet."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A", "dig @{server} -p {port} x.absent.rig.example A +dnssec"),
    faults=(
        "path-other-server",
        "path-rewrites",
        "path-rewrites-ipv6",
        "path-rewrites-by-tcp",
        "path-rewrites-mail",
        "path-rewrites-nxdomain",
        "path-drops-types",
        "path-answers-chaos",
        "path-blocks-names",
        "path-lowers-ttl",
        "path-lower-cases-responses",
        "path-clears-ad",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    questions = [(what, RdataType.A) for what in WHATS] + [(names.PLAIN, rtype) for rtype in TYPES]
    for family, transport in ways(subject):
        for payload in (None, 1232):
            for what, rtype in questions:
                query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload)
                wrong = compare(subject, family, query, of_query=False, transport=transport)
                if wrong is not None:
                    return wrong
        for query in _foreign():
            wrong = compare(subject, family, query, of_query=False, transport=transport)
            if wrong is not None:
                return wrong
    return passed("Responses come octet by octet as they were sent.")


def _foreign() -> list[Query]:
    found = [
        Query(name=dns.name.from_text(name), rtype=rtype, rd=True, payload=None)
        for name in FOREIGN
        for rtype in (RdataType.A, RdataType.AAAA)
    ]
    chaos = [
        Query(name=dns.name.from_text(name), rtype=RdataType.TXT, rdclass=dns.rdataclass.CH, payload=None)
        for name in CHAOS
    ]
    mixed = dns.name.Name([label.title() for label in names.fresh(names.PLAIN).labels])
    return [
        *found,
        *chaos,
        Query(name=mixed, rtype=RdataType.A, rd=True, payload=None),
        Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, ad=True, do=True),
    ]
