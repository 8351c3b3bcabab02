"""What items share that judge each version of IP by itself: one that is shut hides nothing that the other shows."""

from collections.abc import Callable, Sequence

from dnsrig.verification.subjects.path import Family, PathSubject
from dnsrig.verification.verdicts import Outcome, Verdict


def judge_each(subject: PathSubject, check: Callable[[PathSubject, Family], Outcome]) -> Outcome | Sequence[Outcome]:
    """Check by every version of IP; give the first failure, else what else is no pass, else the passes."""
    passed: list[Outcome] = []
    unclear: Outcome | None = None
    for family in subject.families:
        found = check(subject, family)
        if found.verdict is Verdict.PASS:
            passed.append(found)
        elif found.verdict is Verdict.FAIL:
            return found
        else:
            unclear = unclear or found
    return unclear or passed
