"""A-question: the question in responses."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._looked_at import wrong_response
from dnsrig.items.authoritative._probes import soa_query, type_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-question",
    role="authoritative",
    group="Header",
    requirement="The response's question section is that of the query: one question, with its name, type and class.",
    references=("RFC 1035 section 4.1.2", "RFC 5452 section 9.1", "RFC 9619 section 3"),
    severity=Severity.CRITICAL,
    consequence=(
        "Resolvers drop the responses, as they cannot tell them from forged ones: the zone's names do not resolve."
    ),
    procedure=(
        "The SOA record is asked for, by UDP and TCP, and a name that does not exist, then answers, denials and "
        "referrals without EDNS, and with DO a sample of all names that are known, and what is truncated by UDP; the "
        "questions are compared without regard to case."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns", "dig @{server} -p {port} absent.{zone} A +norec +noedns"),
    faults=(
        "drops-question",
        "other-question",
        "drops-question-with-do",
        "drops-question-by-tcp",
        "drops-question-of-truncated",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for what is there and for what is not."""
    exchanges = []
    for query in (soa_query(subject), Query(name=subject.absent_name(), rtype=RdataType.A, payload=None)):
        exchange = subject.asker.udp(query)
        if exchange.message is None:
            return subject.unanswered(exchange)
        exchanges.append(exchange)
    # Whether there is a response by TCP is for A-tcp to say.
    for exchange in (*exchanges, subject.asker.tcp(soa_query(subject))):
        said = _other_question(exchange)
        if said:
            return failed(f"The response to {exchange.title} {said}.", exchange)
    # What asks again by TCP, or looks at the sample, does not see the responses that are cut.
    for place in subject.landmarks.large[:1]:
        cut = subject.asker.udp(Query(name=place.name, rtype=place.rtype, payload=None))
        said = _other_question(cut)
        if said:
            return failed(f"The response to {cut.title} {said}.", cut)
    wrong = wrong_response(subject, _other_question)
    return wrong or passed("The responses have the questions that were asked.", *exchanges)


def _other_question(exchange: Exchange) -> str:
    """Say what question the response has, where it is not that of the query; "" where it is."""
    if exchange.message is None:
        return ""
    query = exchange.query
    questions = [(one.name, one.rdtype, one.rdclass) for one in exchange.message.question]
    if questions == [(query.name, query.rtype, query.rdclass)]:
        return ""
    given = ", ".join(f"{name} {type_text(rtype)}" for name, rtype, _ in questions) or "none"
    return f"has another question than the query: {given}"
