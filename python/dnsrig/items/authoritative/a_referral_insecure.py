"""A-referral-insecure: referrals to unsigned zones."""

from functools import partial

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._deep import referrals_with_do
from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.denial import DenialRecords, Proof
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-referral-insecure",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="With DO a referral to an insecure delegation proves that it has no DS records.",
    references=("RFC 4035 section 3.1.4", "RFC 5155 section 7.2.7", "RFC 5155 section 8.9"),
    severity=Severity.WARNING,
    consequence="Validators need one more query for each zone below; some give SERVFAIL.",
    procedure=(
        "A name below each delegation that is known is asked for with DO, or below 50 of them. Where a query for DS "
        "gets none, neither does the referral, and a record matches the delegation: its bitmap has "
        "NS, and neither DS nor SOA; or an NSEC3 record with the Opt-Out flag covers the next closer name."
    ),
    dig=("dig @{server} -p {port} absent.{delegation} A +norec +dnssec",),
    needs=("signatures", "delegation"),
    faults=(
        "strips-denial",
        "referral-without-ds",
        "some-referrals-without-ds",
        "lacks-ds-denial",
        "cut-bitmap-without-ns",
        "cut-bitmap-lists-ds",
        "ds-lost",
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
    outcome = judge(subject, exchange, partial(_prove, name), f"that {name} has no DS")
    if outcome.verdict is not Verdict.PASS:
        return outcome
    insecure = 1
    for cut, further in referrals_with_do(subject):
        if cut == name or rrset_of(further, "authority", cut, RdataType.DS) is not None:
            continue
        asked = subject.answers.get(cut, RdataType.DS)
        if asked.message is None or asked.message.answer or asked.rcode != dns.rcode.NOERROR:
            # That a secure delegation lacks its DS records is A-referral-secure's to tell.
            continue
        judged = judge(subject, further, partial(_prove, cut), f"that {cut} has no DS")
        if judged.verdict is Verdict.FAIL:
            return judged
        insecure += 1
    more = f" The referrals to {insecure} insecure delegations do." if insecure > 1 else ""
    return passed(f"{outcome.reason}{more}", exchange)


def _prove(cut: dns.name.Name, records: DenialRecords) -> Proof:
    return records.no_ds(cut)
