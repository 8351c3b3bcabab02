"""A-referral-do: referrals to those who ask with DO."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._places import check_referrals, delegations
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed

ITEM = Item(
    id="A-referral-do",
    role="authoritative",
    group="Delegation",
    requirement="With DO a referral is one too: no answer, no AA, and the same NS records and glue as without.",
    references=("RFC 4035 section 3.1.4", "RFC 9471 section 3", "RFC 1034 section 4.3.2"),
    severity=Severity.CRITICAL,
    consequence="Resolvers ask with DO: they do not find the delegated zone, or take the parent's data for its own.",
    procedure=(
        "A is asked for below delegations, with DO and without EDNS; with DO the response is a referral with the same "
        "NS records, and has the addresses of servers below the delegation that the other has, unless it has TC."
    ),
    dig=("dig @{server} -p {port} {delegation} A +norec +dnssec",),
    needs=("zone", "edns"),
    faults=(
        "referral-in-answer-with-do",
        "referral-with-aa-with-do",
        "no-glue-with-do",
        "referral-in-answer",
        "drops-do",
        "referral-with-aa",
        "no-referral",
        "upward-for-delegations",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with DO, and compare with what comes without."""
    names = [child_of(cut, subject.denied_label) for cut in delegations(subject)]
    outcome = check_referrals(subject, names, do=True)
    if outcome.verdict is not Verdict.PASS:
        return outcome
    for cut, name in zip(delegations(subject), names, strict=True):
        with_do = subject.answers.get(name, RdataType.A)
        without = subject.answers.get(name, RdataType.A, do=False)
        # With AA the server answers from the delegated zone, which it has as well.
        if with_do.message is None or without.message is None or with_do.has_flag(dns.flags.AA):
            continue
        for section, what in (("authority", "NS"), ("additional", "glue")):
            for rrset in getattr(without.message, section):
                if rrset.rdtype not in {RdataType.NS, RdataType.A, RdataType.AAAA}:
                    continue
                if section == "additional" and not rrset.name.is_subdomain(cut):
                    # Addresses of servers elsewhere may be left out where there is no room (RFC 9471 section 3.2).
                    continue
                if rrset_of(with_do, section, rrset.name, RdataType.make(rrset.rdtype)) is None:
                    return failed(
                        f"With DO the referral for {name} lacks {what} records of {rrset.name}.", with_do, without
                    )
    return outcome
