"""F-port: random source ports."""

from dnsrig.items._chance import pattern, relation
from dnsrig.items.resolver._own_queries import own_queries, too_few
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

ITEM = Item(
    id="F-port",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The source ports of the resolver's queries cannot be guessed.",
    references=("RFC 5452 section 9.2", "RFC 5452 section 4.5"),
    severity=Severity.CRITICAL,
    consequence="Who cannot see its queries can put forged data into its cache, and so before all its clients.",
    procedure=(
        "100 names are asked for one after the other; the source ports of the queries for them that came to the "
        "tree's servers by "
        "UDP do not follow a pattern."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.control.unsigned. A   # often, and look at what comes to the tree's servers",
    ),
    needs=("upstream", "seen"),
    faults=(
        "few-ports",
        "counts-ports",
        "steps-ports",
        "computes-ports",
        "draws-few-ports",
        "ports-of-ids",
    ),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at many queries."""
    seen = own_queries(subject)
    if (outcome := too_few(subject, seen)) is not None:
        return outcome
    numbers = [one.source_port for one in seen]
    shown = Evidence("at the tree's servers, in this order", " ".join(str(number) for number in numbers))
    found = pattern(numbers) or relation([one.id for one in seen], numbers)
    if found:
        return failed(f"They can be guessed: {found}.", shown)
    return passed(f"{len(set(numbers))} different ones in {len(numbers)} queries, without pattern.", shown)
