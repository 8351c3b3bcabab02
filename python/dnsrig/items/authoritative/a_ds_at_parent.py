"""A-ds-at-parent: DS records are the parent's to answer."""

import dns.flags
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-ds-at-parent",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="The server of the parent zone answers queries for DS at a delegation itself, with AA.",
    references=("RFC 4035 section 3.1.4.1", "RFC 4035 section 2.4"),
    severity=Severity.CRITICAL,
    consequence=(
        "Validators find no DS records: secure zones below are bogus, or taken for unsigned where no proof is asked."
    ),
    procedure=(
        "DS records are asked for at a secure and an insecure delegation. Both responses have AA; the one has DS "
        "records, the other the zone's SOA record, and neither is a referral."
    ),
    dig=("dig @{server} -p {port} {delegation} DS +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "ds-from-child",
        "refers-ds-queries",
        "clears-aa",
        "nxdomain-for-nodata",
        "nxdomain-for-ds",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for DS records at both kinds of delegation."""
    marks, origin = subject.landmarks, subject.origin
    asked = []
    for name in (marks.secure_delegation, marks.delegation):
        if name is None:
            continue
        exchange = subject.answers.get(name, RdataType.DS)
        outcome = unusable(subject, exchange)
        if outcome is not None or exchange.message is None:
            return outcome or inconclusive("There is no response.", exchange)
        asked.append(exchange)
        if exchange.rcode == dns.rcode.NXDOMAIN:
            return failed(f"The response to the query for DS at {name} is NXDOMAIN, of a name that exists.", exchange)
        if rrset_of(exchange, "authority", name, RdataType.NS) is not None and not exchange.message.answer:
            return failed(f"The query for DS at {name} is answered with a referral.", exchange)
        soa = next((rrset.name for rrset in exchange.message.authority if rrset.rdtype == RdataType.SOA), origin)
        # Another zone's SOA record than the child's is the matter of A-nodata.
        if soa != origin and soa.is_subdomain(name):
            return failed(
                f"The response says for {soa} that there is no DS: the child zone has no say about it.", exchange
            )
        if name == marks.secure_delegation and rrset_of(exchange, "answer", name, RdataType.DS) is None:
            return failed(f"The response has no DS records for {name}, though the zone has them.", exchange)
        if not exchange.has_flag(dns.flags.AA):
            return failed(f"The response to the query for DS at {name} has no AA.", exchange)
    if not asked:
        return not_applicable(subject.unknown("delegation"))
    return passed("DS queries are answered from the zone itself.", *asked)
