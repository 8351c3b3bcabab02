"""A-any: queries for ANY."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import type_text, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed, passed_by_tcp

ITEM = Item(
    id="A-any",
    role="authoritative",
    group="Answers",
    requirement="A query for ANY gets NOERROR and at least one RRset of the name, or TC, and a response by TCP.",
    references=("RFC 8482 section 4", "RFC 1035 section 3.2.3"),
    severity=Severity.WARNING,
    consequence=(
        "Mail servers and other old software that ask for ANY wait, or take the name for one that does not exist."
    ),
    procedure=(
        "ANY is asked for by UDP without EDNS; the response has a record of the name, of whatever type, or TC. By TCP "
        "there is a response, or the connection is closed."
    ),
    dig=(
        "dig @{server} -p {port} {host} ANY +norec +noedns +notcp +ignore",
        "dig @{server} -p {port} {host} ANY +norec +noedns +tcp",
    ),
    needs=("zone",),
    faults=("drops-any", "notimp-to-any", "empty-any", "drops-any-by-tcp", "any-of-another-name"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for ANY at a host, or at the apex."""
    host = subject.landmarks.host
    name = subject.origin if host is None else host.name
    exchange = subject.asker.udp(Query(name=name, rtype=RdataType.ANY, payload=None))
    silent = None if exchange.response is None else subject.silent_by_tcp(subject.asker.tcp(exchange.query))
    if silent is not None:
        return silent
    if exchange.is_truncated:
        return passed("The response has TC, so that only clients with true addresses get more.", exchange)
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    if exchange.message is None or not exchange.message.answer:
        by_tcp = subject.asker.tcp(exchange.query)
        if by_tcp.message is not None and by_tcp.message.answer:
            return passed_by_tcp("Only the response by TCP has an answer.", exchange, by_tcp)
        return failed("The response has no answer: it says that the name has no records.", exchange)
    if all(rrset.name != name for rrset in exchange.message.answer):
        return failed(f"The response has no record of {name}, but of {exchange.message.answer[0].name}.", exchange)
    types = ", ".join(type_text(rrset.rdtype) for rrset in exchange.message.answer)
    return passed(f"The answer has {types}.", exchange)
