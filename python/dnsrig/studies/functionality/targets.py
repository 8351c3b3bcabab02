"""Verifies one case: starts what it names, runs the items, and ends it."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from dnsrig.studies.functionality.cases import Case
from dnsrig.verification.deviations import KnownFailures
from dnsrig.verification.item import KnownItem
from dnsrig.verification.path_targets import Ends, OwnPath, path_target
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import run_items, run_on_each
from dnsrig.verification.targets import Told, authoritative_target, merged
from dnsrig.verification.verification import Verification

PORT = 53
"""Of targets at an address, which the study has none of."""


def verified(case: Case, items: Sequence[KnownItem], folder: Path) -> Verification:
    """Run the items against the case's target, which is started in `folder`.

    Raises:
        EnvironmentLacksError: it is not installed, or the machine makes no network namespaces.
        SubjectFailedError: it does not start, or does not answer.

    """
    began = time.monotonic()
    zone = None
    known: KnownFailures = {}
    with ExitStack() as stack:
        if case.role == "authoritative":
            server = stack.enter_context(authoritative_target(case.target, PORT, Told(), folder))
            zones = [subject.origin.to_text() for subject in server.subjects]
            results = merged(items, run_on_each(items, server.subjects), zones, server.known)
            version, known, zone = server.version, server.known, zones[0] if len(zones) == 1 else None
        elif case.role == "resolver":
            resolver = stack.enter_context(resolver_target(case.target, PORT, None, folder))
            version, known, results = resolver.version, resolver.known, run_items(items, resolver.subject)
        elif case.role == "proxy":
            proxy = stack.enter_context(proxy_target(case.target, Device(), folder))
            version, known, results = proxy.version, proxy.known, run_items(items, proxy.subject)
        else:
            path = stack.enter_context(path_target(case.target, OwnPath(), Ends()))
            version, results = path.version, run_items(items, path.subject)
    elapsed_s = time.monotonic() - began
    return Verification(case.role, case.target, version, zone, results, elapsed_s, known)
