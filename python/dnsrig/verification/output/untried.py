"""What was not tried for want of something that the user can give, and results that end for the same reason."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dnsrig.verification.item import Role
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.verification import Verification

REMEDY = re.compile(r"--(?!item\b)[a-z][a-z-]*[a-z]|serve-tree")
"""What a reason names that would make an item applicable: an option, or the command that serves the rig's tree."""
ADVICE: dict[Role, tuple[str, str]] = {
    "resolver": (
        "--trust-anchor",
        "name --trust-anchor FILE, that of the tree which it resolves from, or let it resolve from the rig's tree (see "
        "dnsrig verify serve-tree) and name --tree FOLDER",
    ),
    "proxy": (
        "--upstream",
        "name --upstream ADDRESS, an address of this machine, and let the proxy forward to it: the rig answers there",
    ),
}
"""By role the option that is wanting where hardly anything is applicable, and what to do."""


FOLDED = (Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE)
"""Verdicts of which a reason that many items share is told once."""


def by_reason(results: Iterable[Result]) -> list[tuple[str, list[Result]]]:
    """Put results with the same reason together, the most frequent reason first."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.outcome.reason, []).append(result)
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def folded(results: Sequence[Result], verdict: Verdict) -> tuple[list[Result], list[tuple[str, list[Result]]]]:
    """Give the results of a verdict that are shown each for itself, and by their reason those that say the same."""
    if verdict not in FOLDED:
        return list(results), []
    grouped = by_reason(results)
    alone = {id(same[0]) for _, same in grouped if len(same) == 1}
    return [result for result in results if id(result) in alone], [pair for pair in grouped if len(pair[1]) > 1]


def not_tried(verification: Verification) -> str:
    """Say in a line how many items were not tried for want of which options; "" if the user can give nothing more."""
    wanting: Counter[str] = Counter()
    for result in verification.of(Verdict.NOT_APPLICABLE):
        remedies = dict.fromkeys(REMEDY.findall(result.outcome.reason))
        if remedies:
            wanting[" or ".join(remedies)] += 1
    if not wanting:
        return ""
    counts = ", ".join(f"{remedy} ({count})" for remedy, count in wanting.most_common())
    items = "1 item was" if wanting.total() == 1 else f"{wanting.total()} items were"
    return f"{items} not tried for want of {counts}"


def most_usual_reason(verification: Verification) -> str:
    """Say why most of what could not be found out of a target could not."""
    return by_reason(verification.of(Verdict.INCONCLUSIVE))[0][0]


def nothing_found(verifications: Sequence[Verification]) -> str:
    """Say why nothing could be verified, and what to do, of targets to which no item applies."""
    results = [result for verification in verifications for result in verification.results]
    reasons = by_reason(results)
    option, advice = ADVICE.get(verifications[0].role, ("", ""))
    if option and any(option in reason for reason, _ in reasons):
        return f"nothing could be verified: {advice}"
    return f"nothing could be verified: {reasons[0][0]}"
