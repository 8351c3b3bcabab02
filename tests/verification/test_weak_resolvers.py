"""Resolvers that leave one care out fail the items about it, and no others.

Each weakness is put before the items that name it, which nothing else proves, and the resolver without weakness before
all of them. That a weakness fails no others takes minutes, and is tried where DNSRIG_EVERY_ITEM is set (turns.py).
"""

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import dns.name
import pytest
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.hosts.network.topologies import resolver_network
from dnsrig.items.catalogue import chosen as items_chosen
from dnsrig.items.catalogue import items
from dnsrig.items.resolver import _burden, f_amplification, f_failure_limit
from dnsrig.items.resolver._work import Work
from dnsrig.servers.resolvers.unbound import UnboundResolver
from dnsrig.verification.anchor_trials import AnchorTrials, anchor_trials
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.faults.weak_resolver import FAILURE_S, WeakResolver
from dnsrig.verification.faults.weaknesses import BELIEVING, WEAKNESSES, Weakness
from dnsrig.verification.item import KnownItem
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.resolver_targets import TREE_PREFIX
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.resolver import ResolverSubject, simplest_query
from dnsrig.verification.tree.keys import ZoneKeys
from dnsrig.verification.tree.rolling_root import RollingRoot
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.verdicts import Evidence, Verdict
from matrix_record import WEAK, WEAK_ANCHORS, keep, keep_right, passed_of
from trees import Trees
from turns import EVERY_ITEM, TIMEOUT_S

pytestmark = pytest.mark.timeout(TIMEOUT_S)

WAITS_S = (8.0, 8.0)
RESOLVER = "127.0.2.1"
RESOLVER_OF_THE_RIG = ("weak resolver of the rig", "")
"""Its name and version in the matrix."""
GROUPS = ("Spoofing and bailiwick", "Servers that are wrong", "Privacy")
"""Those of the items that a resolver without a chain of trust can pass."""
BURDENS = ("F-keytrap", "F-nsec3-cost", "F-nsec3-work")
"""It truly computes what these are about, or has bounds."""
OTHERS = (*BURDENS, "F-do-upstream", "F-unasked", "F-ttl-passed", "F-own-options", "F-amplification", "F-stale")
WITHOUT = Weakness("none", "does nothing wrong")
SLOW = [one for one in WEAKNESSES if one.name in f_failure_limit.ITEM.faults]
"""Those that only slow items find."""
USUAL = [one for one in WEAKNESSES if one not in SLOW]
FLOODS = [one for one in WEAKNESSES if one.name in f_amplification.ITEM.faults]
TRIES = 3


def wrong_each_time(attempt: Callable[[], str]) -> list[str]:
    """Give what was wrong with each attempt, or nothing once one was right: a busy machine fails some."""
    said = []
    while len(said) < TRIES:
        said.append(attempt())
        if not said[-1]:
            return []
    return said


def skip_without_namespaces() -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")


@dataclass(frozen=True)
class Place:
    host: Namespace
    served: TreeServer

    def wrong_with(self, weakness: Weakness, chosen: Sequence[KnownItem], lateness: Lateness | None = None) -> str:
        """Say which items failed and should not have, or the other way round."""
        tree = self.served.tree
        endpoint = Endpoint(RESOLVER)
        with WeakResolver(endpoint, tree.addresses[:1], weakness, self.host.make_socket) as resolver:
            asker = Asker(endpoint, self.host.make_socket, WAITS_S)
            subject = ResolverSubject(asker, tree, self.served.seen, spent_s=resolver.cpu_s)
            results = run_items(chosen, subject, lateness=lateness)
        failures = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict == Verdict.FAIL}
        if weakness is WITHOUT:
            keep_right("resolver", RESOLVER_OF_THE_RIG, failures, passed_of(results), WEAK)
        else:
            keep("resolver", weakness.name, RESOLVER_OF_THE_RIG, failures, WEAK)
        expected = {known.item.id for known in chosen if weakness.name in known.item.faults}
        missed = {one.item.id: one.outcome for one in results if one.item.id in expected - set(failures)}
        said = f"{weakness.name}: expected {sorted(expected)}, found {failures}, and {missed}"
        return said if set(failures) != expected else ""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Iterator[Place]:
    skip_without_namespaces()
    tree = trees.copy_to(tmp_path_factory.mktemp("tree"), TREE_PREFIX)
    with resolver_network(tree.addresses) as network, TreeServer(tree, network.tree.make_socket) as served:
        yield Place(network.resolver, served)


@pytest.mark.parametrize("weakness", (WITHOUT, *USUAL), ids=lambda one: one.name)
def test_each_weakness_fails_the_items_that_name_it(place: Place, weakness: Weakness) -> None:
    able = [known for known in items("resolver") if known.item.group in GROUPS or known.item.id in OTHERS]
    chosen = [known for known in able if not known.item.is_slow]
    naming = [known for known in chosen if weakness.name in known.item.faults]
    assert naming or weakness is WITHOUT
    # One after the other: the tree's servers are in this process, and are to answer in time.
    tried = chosen if EVERY_ITEM or weakness is WITHOUT else naming
    # Its CPU time is Python's, which a busy machine doubles, with weakness or without.
    assert not (said := wrong_each_time(lambda: place.wrong_with(weakness, tried))), said


@pytest.mark.parametrize("weakness", [WITHOUT, *SLOW], ids=lambda one: one.name)
def test_failures_that_are_remembered_too_long_are_noticed(
    place: Place, weakness: Weakness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f_failure_limit, "LONGEST_S", FAILURE_S)
    chosen = items_chosen("resolver", ["F-failure-limit"])
    assert not (said := place.wrong_with(weakness, chosen)), said


@pytest.mark.parametrize("weakness", FLOODS, ids=lambda one: one.name)
def test_floods_are_no_excuse_for_themselves(place: Place, weakness: Weakness) -> None:
    """What keeps the tree's servers busy must not pass for a machine that is busy."""
    chosen = items_chosen("resolver", ["F-amplification"])
    # Other tests may keep the machine busy for once.
    assert not (said := wrong_each_time(lambda: place.wrong_with(weakness, chosen, place.served.lateness))), said


@pytest.mark.parametrize(
    ("name", "item_id"), [("verifies-all-pairs", "F-keytrap"), ("hashes-without-bounds", "F-nsec3-cost")]
)
def test_all_work_shows_in_cpu_time_where_nobody_waits(
    place: Place, name: str, item_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_burden, "LONGEST_S", math.inf)
    monkeypatch.setattr(_burden, "MOST_WAITED", math.inf)
    weakness = next(one for one in WEAKNESSES if one.name == name)
    assert not (said := place.wrong_with(weakness, items_chosen("resolver", [item_id]))), said


def test_waits_tell_of_all_work_where_cpu_time_is_not_seen() -> None:
    work, shown = Work(1000, "hashes", lambda: 0.002), Evidence("times", "")
    exchange = Exchange(Endpoint("192.0.2.1"), "udp", simplest_query(), b"", None, 1, 0.0)
    for longest_s, waited_s, verdict in ((0.6, 1.6, Verdict.FAIL), (0.6, 1.4, Verdict.PASS), (0.3, 1.6, Verdict.PASS)):
        watched = _burden.Watched(longest_s, waited_s, exchange, None)
        assert _burden.judged(12, watched, work, work.all_s, shown).verdict is verdict


def test_jitter_and_lost_messages_are_no_waits() -> None:
    once, again = (Exchange(Endpoint("192.0.2.1"), "udp", simplest_query(), b"", None, tries, 0.0) for tries in (1, 2))
    calm_s = 0.02
    jitter = [(calm_s + 0.04, once)] * 300
    assert _burden.waited_s(jitter, calm_s) == 0.0
    assert _burden.waited_s([*jitter, (_burden.WAITS_S[0] + calm_s, again)], calm_s) == 0.0
    assert _burden.waited_s([*jitter, (0.3 + calm_s, once), (_burden.WAITS_S[0] + 0.4 + calm_s, again)], calm_s) == (
        pytest.approx(0.7)
    )


def test_what_is_in_the_cache_is_no_burden(place: Place) -> None:
    """Else a second run, such as where the rig was late in the first, would find no fault."""
    endpoint = Endpoint(RESOLVER)
    with WeakResolver(endpoint, place.served.tree.addresses[:1], WITHOUT, place.host.make_socket) as resolver:
        asker = Asker(endpoint, place.host.make_socket, WAITS_S)
        subject = ResolverSubject(asker, place.served.tree, place.served.seen, spent_s=resolver.cpu_s)
        first, second = (run_items(items_chosen("resolver", ["F-keytrap"]), subject)[0].outcome for _ in range(2))
        fresh = [run_items(items_chosen("resolver", ["F-nsec3-cost"]), subject)[0].outcome for _ in range(2)]
    assert (first.verdict, second.verdict) == (Verdict.PASS, Verdict.INCONCLUSIVE), second
    assert [one.verdict for one in fresh] == [Verdict.PASS] * 2


def test_belief_in_denials_is_no_fault(place: Place) -> None:
    endpoint, tree = Endpoint(RESOLVER), place.served.tree
    with WeakResolver(endpoint, tree.addresses[:1], BELIEVING, place.host.make_socket):
        subject = ResolverSubject(Asker(endpoint, place.host.make_socket, WAITS_S), tree, place.served.seen)
        (result,) = run_items(items_chosen("resolver", ["F-denied-names"]), subject)
    assert result.outcome.verdict is Verdict.PASS, result.outcome
    assert result.outcome.reason.startswith("The resolver believes NXDOMAIN (RFC 8020)")


def test_what_was_asked_before_accuses_nobody(place: Place) -> None:
    chosen = items_chosen("resolver", ["F-special-names"])
    weak = next(one for one in WEAKNESSES if one.name == "asks-for-special-names")
    for weakness in (weak, WITHOUT):
        assert not (said := place.wrong_with(weakness, chosen)), said


class FixedAnchors(UnboundResolver):
    """Has the trust anchors that it begins with for ever."""

    def render(self) -> dict[str, str]:
        return _changed(super().render(), "auto-trust-anchor-file:", "trust-anchor-file:")


class EarlyTrust(UnboundResolver):
    """Trusts a new key after a second."""

    def render(self) -> dict[str, str]:
        managed = self.settings.managed
        assert managed is not None
        return _changed(super().render(), f"add-holddown: {managed.hold_down_s}", "add-holddown: 1")


class MissingDropped(UnboundResolver):
    """Gives up keys that have been missing for a second."""

    def render(self) -> dict[str, str]:
        return _changed(
            super().render(), "permit-small-holddown: yes", "permit-small-holddown: yes\n    keep-missing: 1"
        )


def _changed(files: dict[str, str], old: str, new: str) -> dict[str, str]:
    assert old in files["unbound.conf"]
    return files | {"unbound.conf": files["unbound.conf"].replace(old, new)}


def _with_successor(trials: AnchorTrials, monkeypatch: pytest.MonkeyPatch) -> AnchorTrials:
    """Let the resolver trust the key that is to be new, from the beginning."""

    def anchors(root: RollingRoot) -> str:
        keys = (*root.anchors, root.successor)
        return "".join(f". 3600 IN DS {ZoneKeys(key, key).ds(dns.name.root)[0]}\n" for key in keys)

    monkeypatch.setattr(RollingRoot, "trust_anchors", property(anchors))
    return trials


def _with_first_alone(trials: AnchorTrials, monkeypatch: pytest.MonkeyPatch) -> AnchorTrials:
    """Let the resolver trust the first of several keys alone, so none when that is revoked."""

    def anchor(root: RollingRoot) -> str:
        key = root.anchors[0]
        return f". 3600 IN DS {ZoneKeys(key, key).ds(dns.name.root)[0]}\n"

    monkeypatch.setattr(RollingRoot, "trust_anchors", property(anchor))
    return trials


def wrong_about_anchors(weakness: str, trials: AnchorTrials) -> str:
    """Say which items did not fail that name the weakness."""
    chosen = [known for known in items("resolver") if weakness in known.item.faults]
    assert chosen
    results = run_items(chosen, ResolverSubject(Asker(Endpoint("127.0.0.1")), trials=trials))
    passed = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict != Verdict.FAIL}
    failed = {known.item.id for known in chosen} - passed.keys()
    keep("resolver", weakness, ("Unbound set up weakly", ""), failed, WEAK_ANCHORS)
    return f"{weakness}: {passed}" if passed else ""


@pytest.fixture
def unbound() -> None:
    skip_without_namespaces()
    if UnboundResolver.find() is None:
        pytest.skip(f"Unbound is not installed: install the Debian package {UnboundResolver.package}")


@pytest.mark.usefixtures("unbound")
def test_each_weakness_about_anchors_fails_its_items(tmp_path: Path) -> None:
    kinds = {
        "keeps-anchors-fixed": FixedAnchors,
        "trusts-new-keys-early": EarlyTrust,
        "drops-missing-keys": MissingDropped,
    }
    # Side by side: they wait, and each has resolvers and roots of its own.
    with ThreadPoolExecutor(len(kinds)) as pool:
        trials = [anchor_trials(kind, tmp_path / weakness) for weakness, kind in kinds.items()]
        found = list(pool.map(wrong_about_anchors, kinds, trials))
    assert [said for said in found if said] == []


@pytest.mark.usefixtures("unbound")
def test_trust_in_any_new_key_fails_its_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = _with_successor(anchor_trials(FixedAnchors, tmp_path), monkeypatch)
    assert not (said := wrong_about_anchors("trusts-any-new-key", trials)), said


@pytest.mark.usefixtures("unbound")
def test_the_loss_of_all_trust_by_one_revoked_key_fails_its_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = _with_first_alone(anchor_trials(FixedAnchors, tmp_path), monkeypatch)
    assert not (said := wrong_about_anchors("loses-all-with-revoked", trials)), said
