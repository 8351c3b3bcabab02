"""A-referral-insecure: referrals to unsigned zones."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive, not_applicable

ITEM = Item(
    id="A-referral-insecure",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="With DO a referral to an insecure delegation proves that it has no DS records.",
    references=("RFC 4035 section 3.1.4", "RFC 5155 section 7.2.7", "RFC 5155 section 8.9"),
    severity=Severity.WARNING,
    consequence="Validators need one more query for each zone below; some give SERVFAIL.",
    procedure=(
        "A name below an insecure delegation is asked for with DO. A record matches the delegation: its bitmap has "
        "NS, and neither DS nor SOA; or an NSEC3 record with the Opt-Out flag covers the next closer name."
    ),
    dig=("dig @{server} -p {port} absent.{delegation} A +norec +dnssec",),
    needs=("signatures", "delegation"),
    faults=(
        "strips-denial",
        "referral-without-ds",
        "lacks-ds-denial",
        "nsec3param-of-no-chain",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name below."""
    name = subject.name("delegation")
    exchange = subject.answers.get(child_of(name, subject.denied_label), RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.NS) is None:
        return not_applicable(f"The server has the zone {name} too, so it does not refer to it.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.DS) is not None:
        return not_applicable(f"{name} has DS records now.", exchange)
    return judge(subject, exchange, lambda records: records.no_ds(name), f"that {name} has no DS")
