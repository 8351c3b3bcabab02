"""A-algorithm-advised: algorithms that are not recommended."""

from dnsrig.items.authoritative._algorithms import FORBIDDEN_TO_SIGN, NOT_RECOMMENDED_TO_SIGN
from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-algorithm-advised",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="No key is of an algorithm that is not recommended to sign with.",
    references=("RFC 8624 section 3.1", "RFC 9904"),
    severity=Severity.NOTICE,
    consequence="Validators need not know RSASHA512 for ever; RSASHA256 and ECDSAP256SHA256 serve better.",
    procedure=(
        "The DNSKEY RRset is asked for; no key has algorithm 10. Algorithms that must not be used are A-algorithm's."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec",),
    needs=("signed",),
    faults=("rsa-sha-512-keys",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the keys' algorithms."""
    used = sorted({int(key.algorithm) for key in zone_keys(subject)} - set(FORBIDDEN_TO_SIGN))
    if not used:
        return not_applicable("All keys are of algorithms that must not be used.", subject.dnskey)
    wrong = [NOT_RECOMMENDED_TO_SIGN[algorithm] for algorithm in used if algorithm in NOT_RECOMMENDED_TO_SIGN]
    if wrong:
        return failed(f"The zone has keys of {' and '.join(wrong)}.", subject.dnskey)
    return passed(f"The zone has keys of algorithm {' and '.join(map(str, used))}.", subject.dnskey)
