"""F-nsec3-cost: names of many labels below a zone with iterations."""

from dnsrig.items.resolver._burden import MOST_WORK, check_burden
from dnsrig.items.resolver._work import Work, hash_s
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_costly import ENDLESS_ITERATIONS, ENDLESS_LABELS, ENDLESS_NAMES
from dnsrig.verification.verdicts import Outcome, Severity

# The others of the item, of 150 iterations, are little beside these.
WORK = Work(ENDLESS_NAMES * (ENDLESS_LABELS + 1) * ENDLESS_ITERATIONS, "hashes", hash_s)

ITEM = Item(
    id="F-nsec3-cost",
    role="resolver",
    group="Cost of validation",
    requirement="Names of many labels in a zone with NSEC3 iterations do not keep others from being served.",
    references=("CVE-2023-50868", "RFC 9276 section 3.2"),
    severity=Severity.CRITICAL,
    consequence="A few queries for an attacker's zone stop the resolver for all its users.",
    procedure=(
        f"Names of more than 40 labels in a zone with 150 NSEC3 iterations, and of more than {ENDLESS_LABELS} in one "
        f"with {ENDLESS_ITERATIONS}, are asked for at once; meanwhile a name that is in the cache is asked for again "
        "and again: it is answered within 2 s, and all its delays together are shorter than three quarters of the time "
        "that the hashes of all candidates for the closest encloser take on this machine. A resolver that the rig "
        f"starts spends less than {MOST_WORK:.0%} of their CPU time."
    ),
    dig=("dig @{server} -p {port} x.x.x.deep0.deep.nsec3. A +dnssec",),
    needs=("upstream", "validates"),
    runs_alone=True,
    faults=("stalls-on-nsec3", "hashes-without-bounds"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for all of them, and meanwhile for a name in the cache."""
    return check_burden(subject, ITEM.id, WORK)
