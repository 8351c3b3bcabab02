"""A real validator that leaves one care out fails the items about it, and no others.

So the tree's zones are broken in that one way, and good in all others.
"""

from pathlib import Path

import pytest
from dnsrig.hosts.network import users
from dnsrig.items.catalogue import items
from dnsrig.servers.resolvers.unbound import UnboundResolver
from dnsrig.verification.resolver_targets import TREE_PREFIX, resolver_target
from dnsrig.verification.runner import run_items
from dnsrig.verification.verdicts import Verdict
from trees import Trees

SERVER = "server:\n"
ABOUT_BOGUS = [
    known
    for known in items("resolver")
    if not known.item.is_slow and any(fault.startswith("accepts-") for fault in known.item.faults)
]
NOT_OF_VALIDATION = {"F-opcodes"}
ALL = {known.item.id for known in ABOUT_BOGUS} - NOT_OF_VALIDATION


@pytest.fixture
def folder(tmp_path: Path, trees: Trees) -> Path:
    """A folder in which the tree is found."""
    trees.copy_to(tmp_path, TREE_PREFIX)
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "expected", "said"),
    [
        ("val-override-date: -1", {"F-expired", "F-future"}, "is answered with AD as secure"),
        ("val-permissive-mode: yes", ALL, "is answered as if nothing were wrong"),
    ],
    ids=["ignores-dates", "answers-what-is-bogus"],
)
def test_what_a_validator_is_set_up_to_accept_fails_its_items_alone(
    setting: str, expected: set[str], said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if UnboundResolver.find() is None:
        pytest.skip(f"Unbound is not installed: install the Debian package {UnboundResolver.package}")
    render = UnboundResolver.render

    def weakly(driver: UnboundResolver) -> dict[str, str]:
        files = render(driver)
        assert SERVER in files["unbound.conf"]
        return files | {"unbound.conf": files["unbound.conf"].replace(SERVER, f"{SERVER}    {setting}\n", 1)}

    monkeypatch.setattr(UnboundResolver, "render", weakly)
    with resolver_target("unbound", 53, None, folder) as target:
        results = run_items(ABOUT_BOGUS, target.subject, lateness=target.lateness)
    failures = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.FAIL}
    # A record by SHA-1 alone beside a wrong one: Unbound as shipped takes it.
    known = {"F-digest-downgrade"}
    assert set(failures) - known == expected - known, failures
    assert {item: failures[item] for item in expected - known if said not in failures[item]} == {}
