"""Verifies one case: starts what it names, runs the items, and ends it."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dnsrig.studies.functionality.cases import Case, can_limit_udp
from dnsrig.verification.item import KnownItem
from dnsrig.verification.path_targets import Ends, OwnPath, path_target
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.raised_limits import RAISED_UDP_LIMIT, about_size
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import Result, Subject, run_on_each
from dnsrig.verification.target import Target, verification_of
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.verification import Verification

PORT = 53
"""Of targets at an address, which the study has none of."""


def begun(case: Case, items: Sequence[KnownItem], folder: Path, held: ExitStack) -> Callable[[], Verification]:
    """Start the case's target in `folder`, and run the items against it that are not slow.

    Gives what runs the slow ones, which do little but wait, and says what was found. It may be called in another
    thread; what it needs is in `held`.

    Raises:
        EnvironmentLacksError: it is not installed, or the machine makes no network namespaces.
        SubjectFailedError: it does not start, or does not answer.

    """
    began, began_s = datetime.now(UTC), time.monotonic()
    target = held.enter_context(_opened(case, folder))
    usual = _run([known for known in items if not known.item.is_slow], target, target.subjects)
    raised = _raised(case, about_size(case.role, items), folder / "raised")

    def finish() -> Verification:
        # What the others kept may be of a time when the rig was late, of which another run knows nothing.
        was_late = target.lateness.since(0.0) is not None
        subjects = [subject.renewed() for subject in target.subjects] if was_late else target.subjects
        slow = _run([known for known in items if known.item.is_slow], target, subjects)
        pairs = zip(usual, slow, strict=True)
        by_subject = [_in_order(items, [*of_subject, *more]) for of_subject, more in pairs]
        found = verification_of(case.role, case.target, target, items, by_subject, began=began, elapsed_s=0.0)
        return replace(found, elapsed_s=time.monotonic() - began_s, raised=raised)

    return finish


def _raised(case: Case, items: Sequence[KnownItem], folder: Path) -> Verification | None:
    """Run the items about size with a raised limit; None where there are none, or the limit cannot be set."""
    if not items or not can_limit_udp(case):
        return None
    began, began_s = datetime.now(UTC), time.monotonic()
    folder.mkdir(parents=True)
    with _opened(case, folder, RAISED_UDP_LIMIT) as target:
        found = _run(items, target, target.subjects)
        elapsed_s = time.monotonic() - began_s
        return verification_of(case.role, case.target, target, items, found, began=began, elapsed_s=elapsed_s)


def _run(items: Sequence[KnownItem], target: Target, subjects: Sequence[Subject]) -> list[list[Result]]:
    return run_on_each(items, subjects, lateness=target.lateness, check=target.check_survived)


def _in_order(items: Sequence[KnownItem], results: Sequence[Result]) -> list[Result]:
    by_id = {result.item.id: result for result in results}
    return [by_id[known.item.id] for known in items]


def _opened(case: Case, folder: Path, udp_limit: int | None = None) -> AbstractContextManager[Target]:
    match case.role:
        case "authoritative":
            return authoritative_target(case.target, PORT, Told(), folder, udp_limit)
        case "resolver":
            return resolver_target(case.target, PORT, None, folder, udp_limit=udp_limit)
        case "proxy":
            return proxy_target(case.target, Device(), folder, udp_limit)
        case "path":
            return path_target(case.target, OwnPath(), Ends())
