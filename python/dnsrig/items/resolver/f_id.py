"""F-id: random IDs."""

from dnsrig.items._chance import pattern
from dnsrig.items.resolver._own_queries import own_queries, too_few
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

ITEM = Item(
    id="F-id",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The IDs of the resolver's queries cannot be guessed.",
    references=("RFC 5452 section 9.2", "RFC 5452 section 4.3"),
    severity=Severity.CRITICAL,
    consequence="Who cannot see its queries can put forged data into its cache, and so before all its clients.",
    procedure=(
        "100 names are asked for one after the other; the IDs of the queries for them that came to the tree's "
        "servers by UDP "
        "follow no pattern: they are not few, nor those of a counter of any step, in any order of octets, nor of a "
        "generator whose next number follows from the last ones."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.control.unsigned. A   # often, and look at what comes to the tree's servers",
    ),
    needs=("upstream", "seen"),
    faults=(
        "fixed-id",
        "counts-ids",
        "steps-ids",
        "swaps-ids",
        "computes-ids",
        "shifts-ids",
        "draws-few-ids",
    ),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at many queries."""
    seen = own_queries(subject)
    if (outcome := too_few(subject, seen)) is not None:
        return outcome
    numbers = [one.id for one in seen]
    shown = Evidence("at the tree's servers, in this order", " ".join(str(number) for number in numbers))
    found = pattern(numbers)
    if found:
        return failed(f"They can be guessed: {found}.", shown)
    return passed(f"{len(set(numbers))} different ones in {len(numbers)} queries, without pattern.", shown)
