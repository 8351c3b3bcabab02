"""What items for authoritative servers share: queries for the SOA record, and judging what they usually give."""

from typing import Any

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.asker import random_label
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import USUAL_PAYLOAD, CraftedMessage, Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

UNKNOWN_OPTION = dns.edns.GenericOption(dns.edns.OptionType.make(65_001), b"dnsrig")
"""Of the range for experiments (RFC 6891 section 9), which no server knows."""
UNKNOWN_EDNS_FLAG = 0x0040
"""One of those that RFC 6891 section 6.1.4 reserves; the one that RFC 8906 section 8.2.4 tries."""

LIMITED = "The response is truncated: the server may limit its rate of responses."


def soa_query(subject: AuthoritativeSubject, **fields: Any) -> Query:  # noqa: ANN401 (those of Query)
    """Make a query for the zone's SOA record, without EDNS unless `fields` have a payload."""
    return Query(name=subject.origin, rtype=RdataType.SOA, **{"payload": None, **fields})


def edns_soa_query(subject: AuthoritativeSubject, **fields: Any) -> Query:  # noqa: ANN401 (those of Query)
    """Make a query for the zone's SOA record with EDNS."""
    return soa_query(subject, payload=USUAL_PAYLOAD, **fields)


def ixfr_query(subject: AuthoritativeSubject, serial: int) -> CraftedMessage:
    """Make a query of a client that has a version of the zone."""
    message = dns.message.QueryMessage(id=0)
    message.flags = 0
    message.question.append(dns.rrset.RRset(subject.origin, dns.rdataclass.IN, RdataType.IXFR))
    message.authority.append(dns.rrset.from_text(subject.origin, 0, "IN", "SOA", f". . {serial} 0 0 0 0"))
    return CraftedMessage(name=subject.origin, rtype=RdataType.IXFR, payload=None, after_id=message.to_wire()[2:])


def rcode_text(exchange: Exchange) -> str:
    """Give the response code's mnemonic."""
    return "none" if exchange.rcode is None else dns.rcode.to_text(exchange.rcode)


def is_limited(exchange: Exchange) -> bool:
    """Say whether a response may be a limiter's: NOERROR, TC and nothing more, whatever the query was.

    dnsdist gives these before the server behind it sees the query (TCAction).
    """
    message = exchange.message
    if message is None or exchange.rcode != dns.rcode.NOERROR or not exchange.is_truncated:
        return False
    return not (message.answer or message.authority or message.additional)


def wrong_rcode(
    subject: AuthoritativeSubject, exchange: Exchange, wanted: dns.rcode.Rcode = dns.rcode.NOERROR
) -> Outcome | None:
    """Judge a response by its code; None if it is the wanted one."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode != wanted:
        if is_limited(exchange):
            return inconclusive(LIMITED, exchange)
        return of_another_code(exchange, wanted)
    return None


def of_another_code(exchange: Exchange, wanted: dns.rcode.Rcode) -> Outcome:
    """Say that a response has another code than the wanted one."""
    text = dns.rcode.to_text(wanted)
    return failed(f"The response code to {exchange.title} is {rcode_text(exchange)}, not {text}.", exchange)


def wrong_soa(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a response that should have the SOA record; None if it has."""
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    if rrset_of(exchange, "answer", subject.origin, RdataType.SOA) is None:
        if exchange.is_truncated:
            return inconclusive(LIMITED, exchange)
        return failed("The response has no SOA record in its answer section.", exchange)
    return None


def without_opt(exchange: Exchange) -> Outcome | None:
    """Judge a response that should have an OPT record; None if it has."""
    if exchange.message is not None and exchange.message.edns < 0:
        return failed("The response has no OPT record, though the query had one.", exchange)
    return None


def wrong_badvers(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a response to a query of an EDNS version that no server knows; None if it is as it should be."""
    wrong = wrong_rcode(subject, exchange, dns.rcode.BADVERS)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.edns != 0:
        return failed(f"The EDNS version of the response is {exchange.message.edns}, not 0.", exchange)
    if exchange.message is not None and exchange.message.answer:
        return failed("The response has an answer beside BADVERS.", exchange)
    return None


def option_types(exchange: Exchange) -> set[int]:
    """Give the numbers of the EDNS options in the response."""
    return set() if exchange.message is None else {int(option.otype) for option in exchange.message.options}


def edns_flags(exchange: Exchange) -> int:
    """Give the EDNS flags of the response, 0 without OPT."""
    return 0 if exchange.message is None or exchange.message.edns < 0 else exchange.message.ednsflags & 0xFFFF


def type_text(rtype: RdataType) -> str:
    """Give a type's mnemonic."""
    return dns.rdatatype.to_text(rtype)


def resolves_names(subject: AuthoritativeSubject, exchange: Exchange, reason: str) -> Outcome:
    """Judge a sign of recursion: a failure, but not with RA from a server near this host, which it may serve."""
    if subject.may_resolve_for_us and exchange.has_flag(dns.flags.RA) and not refuses_us(subject):
        why = "this host may be one that the server resolves names for; ask from another network."
        return inconclusive(f"{reason.removesuffix('.')}, but {why}", exchange)
    return failed(reason, exchange)


def refuses_us(subject: AuthoritativeSubject) -> bool:
    """Say whether the server refuses to resolve names for this host: RA then promises what it does not do."""
    names = [dns.name.from_text(f"www.{random_label()}.") for _ in range(2)]
    queries = [Query(name=name, rtype=RdataType.A, rd=True, payload=None) for name in names]
    return all(subject.asker.udp(query).rcode == dns.rcode.REFUSED for query in queries)


def serves_zone(subject: AuthoritativeSubject, origin: dns.name.Name) -> bool:
    """Say whether the server is authoritative for another zone: it gives its SOA record with AA."""
    exchange = subject.asker.ask(Query(name=origin, rtype=RdataType.SOA, payload=None))
    return rrset_of(exchange, "answer", origin, RdataType.SOA) is not None and exchange.has_flag(dns.flags.AA)
