"""A-ds-at-apex: queries for DS at the zone's own apex."""

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import serves_zone
from dnsrig.verification.exchange import Exchange
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
        "record; where the server has the parent zone too, it answers from that, and where it has one further up, it "
        "may refer to the parent zone."
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
    if _is_referral_from_above(subject, exchange):
        return passed("The server has a zone above the parent zone too and refers to that.", exchange)
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(f"The response code is {dns.rcode.to_text(message.rcode())}, not NOERROR.", exchange)
    if subject.origin not in soas:
        return failed("The response has neither DS records nor the zone's SOA record.", exchange)
    return passed("NOERROR without DS records, with the zone's SOA record.", exchange)


def _is_referral_from_above(subject: AuthoritativeSubject, exchange: Exchange) -> bool:
    """Say whether a zone further up, which the server has too, delegates the parent zone or one above it."""
    if exchange.message is None or exchange.rcode != dns.rcode.NOERROR or exchange.has_flag(dns.flags.AA):
        return False
    cuts = [rrset.name for rrset in exchange.message.authority if rrset.rdtype == RdataType.NS]
    cut = next((cut for cut in cuts if cut != subject.origin and subject.origin.is_subdomain(cut)), dns.name.root)
    return any(serves_zone(subject, dns.name.Name(cut.labels[skip:])) for skip in range(1, len(cut)))
