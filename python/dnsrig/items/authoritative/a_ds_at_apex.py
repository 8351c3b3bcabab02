"""A-ds-at-apex: queries for DS at the zone's own apex."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-ds-at-apex",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="A server without the parent zone says, of the zone's own apex, that it has no DS records.",
    references=("RFC 4035 section 3.1.4.1",),
    severity=Severity.WARNING,
    consequence="Resolvers that ask the child zone's servers first take them to be broken, and ask again elsewhere.",
    procedure=(
        "DS records are asked for at the apex. The response is NOERROR, without answer and with the zone's SOA "
        "record; where the server has the parent zone too, it answers from that."
    ),
    dig=("dig @{server} -p {port} {zone} DS +norec +dnssec",),
    needs=("signed",),
    faults=(
        "servfail-to-ds-at-apex",
        "no-soa-in-denial",
        "nxdomain-for-nodata",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for DS at the apex."""
    exchange = subject.answers.get(subject.origin, RdataType.DS)
    message = exchange.message
    if message is None:
        return inconclusive(f"There is {exchange.trouble}; A-dnssec-answers is about that.", exchange)
    if rrset_of(exchange, "answer", subject.origin, RdataType.DS) is not None:
        return passed("The server has the parent zone too and answers from it.", exchange)
    if rrset_of(exchange, "answer", subject.origin, RdataType.CNAME) is not None:
        return inconclusive("The response has a CNAME record of the apex; A-apex-cname is about that.", exchange)
    soas = [rrset.name for rrset in message.authority if rrset.rdtype == RdataType.SOA]
    if any(subject.origin.is_subdomain(name) and name != subject.origin for name in soas):
        return passed("The server has the parent zone too and answers from it.", exchange)
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(f"The response code is {dns.rcode.to_text(message.rcode())}, not NOERROR.", exchange)
    if subject.origin not in soas:
        return failed("The response has neither DS records nor the zone's SOA record.", exchange)
    return passed("NOERROR without DS records, with the zone's SOA record.", exchange)
