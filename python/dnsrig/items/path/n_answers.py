"""N-answers: answers."""

from dataclasses import replace

import dns.edns
import dns.name
import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.path._through import compare, ways
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

WHATS = (
    names.PLAIN,
    names.ALIAS,
    names.ABSENT,
    names.EMPTY,
    names.SECTIONS,
    names.SERVFAIL,
    names.REFUSED,
    names.EXPLAINED,
    names.OPTIONS,
)
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
    RdataType.ANY,
    RdataType.RRSIG,
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
    consequence="Clients are led to other addresses, get no answer, or cannot validate what they get.",
    procedure=(
        "Addresses, aliases, denials, errors, records of other types, ANY, RRSIG and an unknown one among them, are "
        "asked for without EDNS, with it, and with DO, then a zone's DNSKEY RRset, names of a zone that is not signed, "
        "with AD and CD, with a client subnet, a name in mixed case, well-known names, and those of class CHAOS by "
        "which servers tell who they are; all by each version of IP, by UDP and TCP. What the server sent and what "
        "the client got are compared octet by octet."
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
        "path-drops-any",
        "path-drops-refused",
        "path-drops-rrsig-queries",
        "path-answers-chaos",
        "path-blocks-names",
        "path-lowers-ttl",
        "path-lower-cases-responses",
        "path-clears-ad",
        "path-clears-ad-in-denials",
        "path-clears-cd",
        "path-clears-do-in-responses",
        "path-strips-proofs",
        "path-strips-signatures-of-keys",
        "path-strips-signatures-of-types-in-use",
        "path-strips-signatures-by-tcp",
        "path-strips-options-of-responses",
        "path-strips-ede",
        "path-strips-opt-of-unsigned",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    questions = [(what, RdataType.A) for what in WHATS] + [(names.PLAIN, rtype) for rtype in TYPES]
    for family, transport in ways(subject):
        for payload, do in ((None, False), (1232, False), (1232, True)):
            for what, rtype in questions:
                query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload, do=do)
                wrong = compare(subject, family, query, of_query=False, transport=transport)
                if wrong is not None:
                    return wrong
        for query in (*_flagged(), *_foreign()):
            wrong = compare(subject, family, query, of_query=False, transport=transport)
            if wrong is not None:
                return wrong
    return passed("Responses come octet by octet as they were sent.")


def _flagged() -> list[Query]:
    """Ask with DO for keys and for what has no signatures, with flags that come back, and with a client subnet."""
    plain = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, do=True)
    found = [
        replace(plain, ad=True, cd=True),
        replace(plain, ad=True, cd=True, do=False),
        replace(plain, ad=True, cd=True, do=False, payload=None),
    ]
    denied = [replace(query, name=names.fresh(what)) for query in found for what in (names.ABSENT, names.EMPTY)]
    return [
        *(replace(query, name=names.fresh(names.PLAIN)) for query in found),
        *denied,
        replace(plain, name=names.ORIGIN, rtype=RdataType.DNSKEY),
        replace(plain, name=names.fresh(names.PLAIN, names.UNSIGNED)),
        replace(plain, name=names.fresh(names.ABSENT, names.UNSIGNED)),
        replace(plain, name=names.fresh(names.SUBNET), options=(dns.edns.ECSOption("192.0.2.0", 24),)),
    ]


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
    ]
