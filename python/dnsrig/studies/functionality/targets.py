"""Verifies one case: starts what it names, runs the items, and ends it."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from dnsrig.studies.functionality.cases import Case
from dnsrig.verification.deviations import KnownFailures
from dnsrig.verification.item import KnownItem
from dnsrig.verification.path_targets import Ends, OwnPath, path_target
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import Result, run_items, run_on_each
from dnsrig.verification.targets import Told, authoritative_target, merged
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
    began = time.monotonic()
    zone = None
    known: KnownFailures = {}
    tell = _teller(items, only_waits)
    with ExitStack() as stack:
        if case.role == "authoritative":
            server = stack.enter_context(authoritative_target(case.target, PORT, Told(), folder))
            zones = [subject.origin.to_text() for subject in server.subjects]
            results = merged(items, run_on_each(items, server.subjects), zones, server.known)
            version, known, zone = server.version, server.known, zones[0] if len(zones) == 1 else None
        elif case.role == "resolver":
            resolver = stack.enter_context(resolver_target(case.target, PORT, None, folder))
            version, known, results = resolver.version, resolver.known, run_items(items, resolver.subject, tell)
        elif case.role == "proxy":
            proxy = stack.enter_context(proxy_target(case.target, Device(), folder))
            version, known, results = proxy.version, proxy.known, run_items(items, proxy.subject, tell)
        else:
            path = stack.enter_context(path_target(case.target, OwnPath(), Ends()))
            version, results = path.version, run_items(items, path.subject, tell)
    elapsed_s = time.monotonic() - began
    return Verification(case.role, case.target, version, zone, results, elapsed_s, known)


def _teller(items: Sequence[KnownItem], only_waits: Callable[[], None]) -> Callable[[Result], None]:
    """Give what is to be told each result: it calls `only_waits` when all but slow items have ended."""
    left = {known.item.id for known in items if not known.item.is_slow}

    def tell(result: Result) -> None:
        if result.item.id in left:
            left.remove(result.item.id)
            if not left:
                only_waits()

    return tell
