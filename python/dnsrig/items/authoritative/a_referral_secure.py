"""A-referral-secure: referrals to signed zones."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-referral-secure",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="With DO a referral to a secure delegation has its DS records in the authority section.",
    references=("RFC 4035 section 3.1.4",),
    severity=Severity.WARNING,
    consequence="Validators need one more query for each zone, and may take it for unsigned until they ask.",
    procedure="A name below a secure delegation is asked for with DO.",
    dig=("dig @{server} -p {port} absent.{secure_delegation} A +norec +dnssec",),
    needs=("signatures", "secure_delegation"),
    faults=("referral-without-ds",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name below."""
    name = subject.name("secure_delegation")
    exchange = subject.answers.get(child_of(name, subject.denied_label), RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.NS) is None:
        return not_applicable(f"The server has the zone {name} too, so it does not refer to it.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.DS) is None:
        return failed(f"The referral to {name} is without its DS records.", exchange)
    return passed(f"The referral to {name} has its DS records.", exchange)
