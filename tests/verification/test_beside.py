"""Targets whose items wait for minutes are verified at the same time, and reported as others are."""

import json
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from dnsrig.cli import signals, verify_beside
from dnsrig.cli.verify_beside import Beside, Tell
from dnsrig.cli.verify_options import Wishes, verify_each
from dnsrig.cli.verify_trial import Keep, Trial
from dnsrig.errors import EnvironmentLacksError
from dnsrig.items.catalogue import items
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.runner import Result, trust
from dnsrig.verification.stopping import StoppedError, pause
from dnsrig.verification.verdicts import Severity, passed
from dnsrig.verification.verification import Verification

BEGAN = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
PATIENCE_S = 60.0
TARGETS = ["dnsmasq", "dnsdist", "unbound-forwarder"]
WISHES = Wishes("proxy", (), Severity.ERROR, False, None, None, True)


def verified(target: str, incomplete: str = "") -> Verification:
    results = [Result(items("proxy")[0].item, passed("It holds."))]
    return Verification("proxy", target, None, None, results, 1.0, began=BEGAN, incomplete=incomplete)


def test_all_wait_together_and_are_told_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    meeting = threading.Barrier(len(TARGETS))
    put_away: list[str] = []

    def begin(target: str, keep: Keep, tell: Tell, held: ExitStack):
        held.callback(put_away.append, target)

        def run() -> None:
            meeting.wait(PATIENCE_S)
            tell(verified(target).results[0])
            keep(verified(target))

        return run

    with Beside(TARGETS, begin, 1) as verify:
        assert verify_each(TARGETS, verify, WISHES) == 0
    assert [one["target"] for one in json.loads(capsys.readouterr().out)["verifications"]] == TARGETS
    assert sorted(put_away) == sorted(TARGETS)


def test_one_that_is_missing_leaves_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    def begin(target: str, keep: Keep, _tell: Tell, _held: ExitStack):
        if target == "dnsdist":
            raise EnvironmentLacksError("dnsdist is not installed")
        return lambda: keep(verified(target))

    with Beside(TARGETS, begin, 1) as verify:
        assert verify_each(TARGETS, verify, WISHES) == 3
    out, err = capsys.readouterr()
    assert [one["target"] for one in json.loads(out)["verifications"]] == [TARGETS[0], TARGETS[2]]
    assert err == "not verified: dnsdist: dnsdist is not installed\n"


def test_an_interruption_keeps_what_all_have_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Barrier(len(TARGETS))
    put_away: list[str] = []

    def begin(target: str, keep: Keep, _tell: Tell, held: ExitStack):
        held.callback(put_away.append, target)

        def run() -> None:
            if target == "dnsdist":
                # It has nothing to tell when it is stopped.
                begun.wait(PATIENCE_S)
                pause(PATIENCE_S)
            try:
                begun.wait(PATIENCE_S)
                pause(PATIENCE_S)
            except StoppedError:
                keep(verified(target, "interrupted when 1 of 2 items had ended"))
                raise

        return run

    real, calls = verify_beside._wait_for, []

    def interrupted(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(verify_beside, "_wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt), Beside(TARGETS, begin, 1) as verify:
        verify_each(TARGETS, verify, WISHES)
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [one["target"] for one in found["verifications"]] == [TARGETS[0], TARGETS[2]]
    assert all(one["incomplete"].startswith("interrupted when ") for one in found["verifications"])
    assert [one["target"] for one in found["not_verified"]] == ["dnsdist"]
    assert "not verified: dnsdist: interrupted" in err
    assert sorted(put_away) == sorted(TARGETS)


def test_what_was_complete_when_the_interruption_came_is_complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    have_ended = threading.Barrier(len(TARGETS) + 1)

    def begin(target: str, keep: Keep, _tell: Tell, _held: ExitStack):
        def run() -> None:
            if target == "dnsdist":
                have_ended.wait(PATIENCE_S)
                pause(PATIENCE_S)
            keep(verified(target))
            have_ended.wait(PATIENCE_S)

        return run

    real, calls = verify_beside._wait_for, []

    def interrupted(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 1:
            have_ended.wait(PATIENCE_S)
            monkeypatch.setattr(signals._interrupt, "has_come", True)
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(verify_beside, "_wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt), Beside(TARGETS, begin, 1) as verify:
        verify_each(TARGETS, verify, WISHES)
    found = json.loads(capsys.readouterr().out)
    assert [(one["target"], one["incomplete"]) for one in found["verifications"]] == [
        (TARGETS[0], None),
        (TARGETS[2], None),
    ]
    assert [one["target"] for one in found["not_verified"]] == ["dnsdist"]


@pytest.mark.parametrize(("has_come", "incomplete"), [(False, ""), (True, "interrupted")])
def test_an_interruption_that_was_lost_is_told_where_it_came_before_the_end(
    monkeypatch: pytest.MonkeyPatch, has_come: bool, incomplete: str
) -> None:
    target = SimpleNamespace(
        version=None,
        zones=(),
        known={},
        subjects=(None,),
        endpoint=Endpoint("127.0.0.1"),
        lateness=Lateness(),
        check_survived=trust,
    )
    monkeypatch.setattr(signals._interrupt, "has_come", has_come)
    kept: list[Verification] = []
    Trial("proxy", "dnsmasq", kept.append).run(target, [], None, lambda _: None)
    assert [one.incomplete for one in kept] == [incomplete]
