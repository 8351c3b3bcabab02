"""A-algorithm: algorithms that must not be used."""

from dnsrig.items.authoritative._algorithms import FORBIDDEN_TO_SIGN
from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-algorithm",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="No key is of an algorithm that must not be used to sign.",
    references=("RFC 8624 section 3.1", "RFC 9904", "RFC 9905", "RFC 9906"),
    severity=Severity.ERROR,
    consequence="Many validators take the zone for unsigned, so its data can be forged; some reject it.",
    procedure="The DNSKEY RRset is asked for; no key has algorithm 1, 3, 5, 6, 7 or 12.",
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec",),
    needs=("signed",),
    faults=("sha-1-keys",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the keys' algorithms."""
    used = sorted({int(key.algorithm) for key in zone_keys(subject)})
    wrong = [FORBIDDEN_TO_SIGN[algorithm] for algorithm in used if algorithm in FORBIDDEN_TO_SIGN]
    if wrong:
        return failed(f"The zone has keys of {' and '.join(wrong)}.", subject.dnskey)
    return passed(f"The zone has keys of algorithm {' and '.join(map(str, used))}.", subject.dnskey)
