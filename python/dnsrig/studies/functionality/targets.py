"""Verifies one case: starts what it names, runs the items, and ends it."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dnsrig.studies.functionality.cases import Case
from dnsrig.verification.item import KnownItem
from dnsrig.verification.path_targets import Ends, OwnPath, path_target
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import Result, run_on_each
from dnsrig.verification.target import Target, verification_of
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.verification import Verification

PORT = 53
"""Of targets at an address, which the study has none of."""


def verified(
    case: Case, items: Sequence[KnownItem], folder: Path, only_waits: Callable[[], None] = lambda: None
) -> Verification:
    """Run the items against the case's target, which is started in `folder`.

    `only_waits` is called once there are only slow items left, which wait most of their time.

    Raises:
        EnvironmentLacksError: it is not installed, or the machine makes no network namespaces.
        SubjectFailedError: it does not start, or does not answer.

    """
    began, began_s = datetime.now(UTC), time.monotonic()
    with _opened(case, folder) as target:
        by_subject = run_on_each(items, target.subjects, _teller(items, len(target.subjects), only_waits))
        found = verification_of(case.role, case.target, target, items, by_subject, began=began, elapsed_s=0.0)
    return replace(found, elapsed_s=time.monotonic() - began_s)


def _opened(case: Case, folder: Path) -> AbstractContextManager[Target]:
    match case.role:
        case "authoritative":
            return authoritative_target(case.target, PORT, Told(), folder)
        case "resolver":
            return resolver_target(case.target, PORT, None, folder)
        case "proxy":
            return proxy_target(case.target, Device(), folder)
        case "path":
            return path_target(case.target, OwnPath(), Ends())


def _teller(items: Sequence[KnownItem], subjects: int, only_waits: Callable[[], None]) -> Callable[[Result], None]:
    """Give what is to be told each result: it calls `only_waits` when all but slow items have ended."""
    left = subjects * sum(not known.item.is_slow for known in items)

    def tell(result: Result) -> None:
        nonlocal left
        if not result.item.is_slow:
            left -= 1
            if left == 0:
                only_waits()

    return tell
