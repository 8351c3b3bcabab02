"""What the items about denials of existence share: asking, taking the records, judging, saying so."""

from collections.abc import Callable

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.asker import name_below
from dnsrig.verification.denial import DenialRecords, Proof, denial_records
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

NEEDS_DENIAL = ("signatures",)


def records_in(subject: AuthoritativeSubject, exchange: Exchange) -> DenialRecords | None:
    """Take the NSEC or NSEC3 records out of a response."""
    return None if exchange.message is None else denial_records(exchange.message.authority, subject.origin)


def unusable(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Give no verdict where there is no response with an answer to look at; A-dnssec-answers is about that."""
    if exchange.message is None:
        return inconclusive(f"There is {exchange.trouble}; A-dnssec-answers is about that.", exchange)
    if exchange.rcode not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        code = dns.rcode.to_text(exchange.message.rcode())
        return inconclusive(f"The response to {exchange.title} is {code}; A-dnssec-answers is about that.", exchange)
    return None


def judge(
    subject: AuthoritativeSubject, exchange: Exchange, prove: Callable[[DenialRecords], Proof], what: str
) -> Outcome:
    """Judge a response's denial; `what` is the sentence's end: what it is to prove."""
    records = records_in(subject, exchange)
    if records is None:
        return failed(f"The response to {exchange.title} has neither NSEC nor NSEC3 records.", exchange)
    proof = prove(records)
    if not proof:
        return failed(f"The {records.kind} records do not prove {what}: {proof.problem}.", exchange)
    manner = ", by opt-out" if proof.opts_out else ", by compact denial" if proof.is_compact else ""
    return passed(f"The {records.kind} records prove {what}{manner}.", exchange)


def is_compact_denial(subject: AuthoritativeSubject, exchange: Exchange, name: dns.name.Name) -> bool:
    """Say whether a response without answer denies a name as RFC 9824 does."""
    records = records_in(subject, exchange)
    return records is not None and records.kind == "NSEC" and records.no_name(name).is_compact


def is_made_there(subject: AuthoritativeSubject, exchange: Exchange, name: dns.name.Name) -> bool:
    """Say whether a denial has an NSEC record at the name itself that ends right behind it.

    So servers that sign on the fly say, without showing others' names, that there is no such type ("black lies", of
    which compact denial came); validators take that for a proof, though not for one that the name does not exist.
    """
    message = exchange.message
    following = name_below(name, b"\x00")
    return message is not None and any(
        rrset.name == name and rrset.rdtype == RdataType.NSEC and rrset[0].next == following
        for rrset in message.authority
    )


def answer_rrsets(exchange: Exchange, rtype: RdataType) -> bool:
    """Say whether the answer section has records of a type."""
    return exchange.message is not None and any(rrset.rdtype == rtype for rrset in exchange.message.answer)
