"""Resolvers as they are pass the items about RFC 5011, but for known deviations.

Weak ones fail them (test_weak_resolvers.py). They take long as they wait for shortened clocks, and cost little CPU.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dnsrig.hosts.network import users
from dnsrig.items.catalogue import items
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.registry import resolver_driver, resolver_drivers
from dnsrig.verification.anchor_trials import anchor_trials
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items, known_deviations, why_known
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.resolver_targets import no_trials_at_address
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Verdict
from matrix_record import ANCHORS, keep_right, passed_of

ABOUT_ANCHORS = tuple(known for known in items("resolver") if "rfc5011" in known.item.needs)
MANAGING = tuple(name for name in resolver_drivers("resolver") if resolver_driver(name).can_manage_anchors)


@pytest.fixture
def installed() -> dict[str, tuple[type[Resolver], str]]:
    """Resolvers that are installed, with their versions."""
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")
    found = {name: resolver_driver(name).find() for name in MANAGING}
    if not any(found.values()):
        pytest.skip(f"no resolver is installed that manages trust anchors: {', '.join(MANAGING)}")
    return {name: (resolver_driver(name), one.version) for name, one in found.items() if one is not None}


def wrong_of(name: str, kind: type[Resolver], version: str, folder: Path) -> str:
    """Say which items a resolver does not pass, or fails no longer, otherwise than is known of it."""
    lateness = Lateness()
    trials = anchor_trials(kind, folder, lateness)
    subject = ResolverSubject(Asker(Endpoint("127.0.0.1")), trials=trials)
    results = run_items(ABOUT_ANCHORS, subject, lateness=lateness)
    reasons = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict == Verdict.FAIL}
    keep_right("resolver", (name, version), reasons, passed_of(results), ANCHORS)
    known = known_deviations("resolver", name, version)
    unknown = {item: said for item, said in reasons.items() if why_known(known, item, said) is None}
    listed = deviating_items("resolver", name, version).keys() & {one.item.id for one in ABOUT_ANCHORS}
    # On a machine that is busy with other tests, the rig may be late each time, and says so.
    late = {one.item.id for one in results if " late: the machine is busy" in one.outcome.reason}
    unclear = {
        one.item.id: f"{one.outcome.verdict}: {one.outcome.reason}"
        for one in results
        if one.outcome.verdict not in {Verdict.PASS, Verdict.FAIL} and one.item.id not in late
    }
    gone = sorted(listed - reasons.keys() - late)
    return f"{name} {version}: fails {unknown}, no longer {gone}, {unclear}" if unknown or gone or unclear else ""


def test_resolvers_that_follow_rfc_5011_pass(installed: dict[str, tuple[type[Resolver], str]], tmp_path: Path) -> None:
    assert len(ABOUT_ANCHORS) >= 8
    # Side by side: each has resolvers and roots of its own.
    with ThreadPoolExecutor(len(installed)) as pool:
        said = pool.map(lambda name: wrong_of(name, *installed[name], tmp_path / name), installed)
        wrong = [one for one in said if one]
    assert wrong == []


def test_a_resolver_at_an_address_is_not_judged_and_told_how_to_be() -> None:
    subject = ResolverSubject(Asker(Endpoint("127.0.0.1")), no_trials=no_trials_at_address())
    results = run_items(ABOUT_ANCHORS, subject)
    assert {result.outcome.verdict for result in results} == {Verdict.NOT_APPLICABLE}
    (said,) = {result.outcome.reason for result in results}
    assert "dnsrig verify resolver NAME --item ID" in said and all(name in said for name in MANAGING)
