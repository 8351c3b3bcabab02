"""F-keytrap: keys of one tag and wrong signatures without number."""

from dnsrig.items.resolver._burden import MOST_WORK, check_burden
from dnsrig.items.resolver._work import Work, verification_s
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_costly import TRAP_KEYS, TRAP_NAMES, TRAP_SIGNATURES
from dnsrig.verification.verdicts import Outcome, Severity

WORK = Work(len(TRAP_NAMES) * (TRAP_KEYS + 1) * TRAP_SIGNATURES, "signature verifications", verification_s)

ITEM = Item(
    id="F-keytrap",
    role="resolver",
    group="Cost of validation",
    requirement="A zone with many keys of one tag and many wrong signatures does not keep others from being served.",
    references=("KeyTrap: CVE-2023-50387", "RFC 4035 section 5.3.1"),
    severity=Severity.CRITICAL,
    consequence="One query for an attacker's zone stops the resolver for all its users.",
    procedure=(
        "Names of a zone with 81 keys of one tag, each with 80 wrong signatures are asked for at once; "
        "meanwhile a name that is in the cache is asked for again and again: it is answered within 2 s, and all its "
        "delays together are shorter than three quarters of the time that the verifications by all keys take on this "
        f"machine. A resolver that the rig starts spends less than {MOST_WORK:.0%} of their CPU time."
    ),
    dig=("dig @{server} -p {port} trap0.keytrap.nsec. A +dnssec",),
    needs=("upstream", "validates"),
    runs_alone=True,
    faults=("stalls-on-keytrap", "verifies-all-pairs"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for all of them, and meanwhile for a name in the cache."""
    return check_burden(subject, ITEM.id, WORK)
