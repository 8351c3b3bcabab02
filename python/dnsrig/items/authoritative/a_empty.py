"""A-empty: empty non-terminals."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-empty",
    role="authoritative",
    group="Denial",
    requirement="A name that has no records but names below it exists: a query for it gets NOERROR without answer.",
    references=("RFC 8020 section 2", "RFC 4592 section 2.2.2", "RFC 2136 section 7.16"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers that take NXDOMAIN for the name and all below (RFC 8020) deny the names below it too; so do "
        "those that minimise query names (RFC 9156)."
    ),
    procedure=(
        "A and MX are asked for at an empty non-terminal, and A with DO; the responses are NOERROR with no answer."
    ),
    dig=("dig @{server} -p {port} {empty} A +norec +noedns",),
    needs=("zone", "empty"),
    faults=("nxdomain-for-empty", "nxdomain-for-nodata", "nxdomain-for-empty-with-do", "servfail-to-mx"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for its address, for mail, and with DO."""
    name, shown = subject.name("empty"), []
    queries = [Query(name=name, rtype=rtype, payload=None) for rtype in (RdataType.A, RdataType.MX)]
    if not subject.lacks("edns"):
        queries.append(Query(name=name, rtype=RdataType.A, do=True))
    for query in queries:
        exchange = subject.asker.ask(query)
        if query.do and exchange.message is None:
            # A-dnssec-answers is about that.
            continue
        wrong = wrong_rcode(subject, exchange)
        if wrong is not None:
            return wrong
        if exchange.message is not None and exchange.message.answer:
            return failed("The response has an answer, though the name has no records.", exchange)
        shown.append(exchange)
    return passed("NOERROR without answer.", *shown)
