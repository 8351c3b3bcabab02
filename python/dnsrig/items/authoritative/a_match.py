"""A-match: ID, QR and opcode."""

import dns.opcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._looked_at import wrong_response
from dnsrig.items.authoritative._probes import edns_soa_query, soa_query
from dnsrig.verification.exchange import HEADER_OCTETS, Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-match",
    role="authoritative",
    group="Header",
    requirement="A response has the ID and the opcode of the query, and the QR flag.",
    references=("RFC 1035 section 4.1.1", "RFC 5452 section 9.1"),
    severity=Severity.CRITICAL,
    consequence="Clients drop the responses as forged or as no responses at all: for them the server does not answer.",
    procedure=(
        "The SOA record is asked for, also with DO and by TCP, and a name that does not exist; what comes is looked at "
        "whatever its ID and flags are. The opcode of answers, denials and referrals without EDNS and with DO is "
        "looked at as well."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # dig says: ID mismatch, or: query response not set",),
    faults=("wrong-id", "wrong-id-by-tcp", "clears-qr", "other-opcode", "other-opcode-with-do"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask, and look at what came besides."""
    exchange = subject.asker.udp(soa_query(subject))
    if exchange.response is not None:
        said = _other_opcode(exchange)
        if said:
            return failed(f"The response to {exchange.title} {said}.", exchange)
        wrong = wrong_response(subject, _other_opcode) or _of_another_kind(subject)
        return wrong or passed("The response has the query's ID and opcode, and QR.", exchange)
    return _unmatched(exchange) or subject.unanswered(exchange)


def _of_another_kind(subject: AuthoritativeSubject) -> Outcome | None:
    """Look at what comes for a denial, with DO, and by TCP; None where it matches, or nothing came at all."""
    absent = subject.absent_name()
    queries = [Query(name=absent, rtype=RdataType.A, payload=None), edns_soa_query(subject, do=True)]
    asked = (subject.asker.udp(query) for query in queries)
    wrong = next((found for one in asked if (found := _unmatched(one)) is not None), None)
    return wrong or _unmatched(subject.asker.tcp(soa_query(subject)))


def _unmatched(exchange: Exchange) -> Outcome | None:
    """Judge what came in place of a response; None where there is one, or nothing came."""
    for stray in exchange.strays if exchange.response is None else ():
        if len(stray) >= HEADER_OCTETS:
            what = "the query's ID, but not QR" if not stray[2] & 0x80 else "another ID"
            return failed(f"The only message that came for {exchange.title} has {what}.", exchange)
    return None


def _other_opcode(exchange: Exchange) -> str:
    """Say which opcode a response has that is not the query's; "" where it is."""
    octets = exchange.response or b""
    if len(octets) < HEADER_OCTETS:
        return ""
    opcode = dns.opcode.from_flags(int.from_bytes(octets[2:4]))
    return "" if opcode == exchange.query.opcode else f"has the opcode {dns.opcode.to_text(opcode)}"
