"""Verifies one case: starts what it names, runs the items, and ends it."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from dnsrig.studies.functionality.cases import Case
from dnsrig.verification.deviations import KnownFailures
from dnsrig.verification.item import KnownItem
from dnsrig.verification.path_targets import Ends, OwnPath, path_target
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import Result, Subject, run_on_each
from dnsrig.verification.targets import Told, authoritative_target, merged
from dnsrig.verification.verification import Verification

PORT = 53
"""Of targets at an address, which the study has none of."""


@dataclass(frozen=True, slots=True)
class _Target:
    """What the targets of all roles have in common."""

    version: str | None
    subjects: Sequence[Subject]
    known: KnownFailures = field(default_factory=dict)
    zones: Sequence[str] = ()


def begun(case: Case, items: Sequence[KnownItem], folder: Path, held: ExitStack) -> Callable[[], Verification]:
    """Start the case's target in `folder`, and run the items against it that are not slow.

    Gives what runs the slow ones, which do little but wait, and says what was found. It may be called in another
    thread; what it needs is in `held`.

    Raises:
        EnvironmentLacksError: it is not installed, or the machine makes no network namespaces.
        SubjectFailedError: it does not start, or does not answer.

    """
    began_s = time.monotonic()
    target = _opened(case, folder, held)
    usual = run_on_each([known for known in items if not known.item.is_slow], target.subjects)

    def finish() -> Verification:
        slow = run_on_each([known for known in items if known.item.is_slow], target.subjects)
        pairs = zip(usual, slow, strict=True)
        by_subject = [_in_order(items, [*of_subject, *more]) for of_subject, more in pairs]
        results = merged(items, by_subject, target.zones, target.known) if target.zones else by_subject[0]
        zone = target.zones[0] if len(target.zones) == 1 else None
        elapsed_s = time.monotonic() - began_s
        return Verification(case.role, case.target, target.version, zone, results, elapsed_s, target.known)

    return finish


def _in_order(items: Sequence[KnownItem], results: Sequence[Result]) -> list[Result]:
    by_id = {result.item.id: result for result in results}
    return [by_id[known.item.id] for known in items]


def _opened(case: Case, folder: Path, held: ExitStack) -> _Target:
    if case.role == "authoritative":
        server = held.enter_context(authoritative_target(case.target, PORT, Told(), folder))
        zones = [subject.origin.to_text() for subject in server.subjects]
        return _Target(server.version, server.subjects, server.known, zones)
    if case.role == "resolver":
        resolver = held.enter_context(resolver_target(case.target, PORT, None, folder))
        return _Target(resolver.version, [resolver.subject], resolver.known)
    if case.role == "proxy":
        proxy = held.enter_context(proxy_target(case.target, Device(), folder))
        return _Target(proxy.version, [proxy.subject], proxy.known)
    path = held.enter_context(path_target(case.target, OwnPath(), Ends()))
    return _Target(path.version, [path.subject])
