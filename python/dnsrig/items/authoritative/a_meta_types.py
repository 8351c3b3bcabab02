"""A-meta-types: types that no zone has."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import type_text
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

UNASSIGNED_META_TYPE = RdataType.make(200)
TYPES = (RdataType.MAILA, RdataType.MAILB, RdataType.TKEY, RdataType.TSIG, RdataType.OPT, UNASSIGNED_META_TYPE)
ITEM = Item(
    id="A-meta-types",
    role="authoritative",
    group="RFC 8906",
    requirement="Queries for types that no zone can have are answered, whatever with, but with no records of theirs.",
    references=("RFC 8906 section 2", "RFC 8906 section 3.1.2", "RFC 6895 section 3.1"),
    severity=Severity.WARNING,
    consequence=(
        "Clients wait and ask again; a resolver that is made to ask for such types takes the server to be dead, for all"
        " names."
    ),
    procedure="MAILA, MAILB, TKEY, TSIG, OPT and the unassigned type 200 are asked for; each gets some response code.",
    dig=(
        "dig @{server} -p {port} {zone} MAILB +norec +noedns",
        "dig @{server} -p {port} {zone} TYPE200 +norec +noedns",
    ),
    needs=("zone",),
    faults=("drops-meta-types",),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for each."""
    codes = []
    for rtype in TYPES:
        exchange = subject.asker.udp(Query(name=subject.origin, rtype=rtype, payload=None))
        if exchange.response is None:
            return subject.unanswered(exchange)
        if exchange.message is not None and any(rrset.rdtype == rtype for rrset in exchange.message.answer):
            return failed(f"The answer has records of {type_text(rtype)}.", exchange)
        codes.append(exchange)
    return passed(f"Queries for {len(codes)} such types are answered.", *codes[:2])
