"""A-referral-secure: referrals to signed zones."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._deep import referrals_with_do
from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-referral-secure",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="With DO a referral to a secure delegation has its DS records, signed, in the authority section.",
    references=("RFC 4035 section 3.1.4",),
    severity=Severity.WARNING,
    consequence="Validators need one more query for each zone, and may take it for unsigned until they ask.",
    procedure=(
        "A name below each delegation that is known is asked for with DO, or below 50 of them. Where a query for DS "
        "is answered with DS records, the referral has them with their signatures."
    ),
    dig=("dig @{server} -p {port} absent.{secure_delegation} A +norec +dnssec",),
    needs=("signatures", "secure_delegation"),
    faults=("referral-without-ds", "some-referrals-without-ds", "some-referrals-without-ds-signature"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for names below."""
    name = subject.name("secure_delegation")
    exchange = subject.answers.get(child_of(name, subject.denied_label), RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.NS) is None:
        return not_applicable(f"The server has the zone {name} too, so it does not refer to it.", exchange)
    if rrset_of(exchange, "authority", name, RdataType.DS) is None:
        return failed(f"The referral to {name} is without its DS records.", exchange)
    secure = set()
    for cut, further in [(name, exchange), *referrals_with_do(subject)]:
        if rrset_of(further, "authority", cut, RdataType.DS) is None:
            asked = subject.answers.get(cut, RdataType.DS)
            if rrset_of(asked, "answer", cut, RdataType.DS) is not None:
                return failed(f"The referral to {cut} is without its DS records.", further, asked)
            continue
        if rrset_of(further, "authority", cut, RdataType.RRSIG, RdataType.DS) is None:
            return failed(f"The referral to {cut} has its DS records without signatures.", further)
        secure.add(cut)
    referrals = "referral to a secure delegation has" if len(secure) == 1 else "referrals to secure delegations have"
    return passed(f"{len(secure)} {referrals} signed DS records.", exchange)
