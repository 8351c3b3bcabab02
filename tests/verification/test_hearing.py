"""Targets that answered, and do not any more: what an item sent may have ended them."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from dnsrig.cli import verify_trial
from dnsrig.cli.app import run_command_line
from dnsrig.items.catalogue import items
from dnsrig.verification import hearing
from dnsrig.verification.hearing import SILENT_ITEMS
from dnsrig.verification.item import KnownItem
from dnsrig.verification.runner import Result, RunSilencedError, run_items, run_on_each
from dnsrig.verification.stopping import pause
from dnsrig.verification.verdicts import Outcome, Verdict, inconclusive, passed
from willing_subject import Subject

SILENCE = "none in 6 s"
PATIENCE_S = 60.0
MANY = 3 * SILENT_ITEMS


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "AGAIN_S", 0.0)


class Ending(Subject):
    """Does not answer the simplest question when it is asked for the first, second, ... time, as told."""

    def __init__(self, *silent: int) -> None:
        self.silent = silent
        self.asked = 0

    def silence(self) -> str:
        self.asked += 1
        return SILENCE if self.asked in self.silent else ""


def untold(_: Subject) -> Outcome:
    return inconclusive("There is no response.")


def patient(_: Subject) -> Outcome:
    pause(PATIENCE_S)
    return passed("Yes.")


def of_no_use(count: int) -> Sequence[KnownItem]:
    return [replace(known, check=untold) for known in items("authoritative") if not known.item.is_rough][:count]


def test_a_run_ends_when_the_target_is_silent_for_good() -> None:
    known = of_no_use(SILENT_ITEMS)
    waits = replace(known[0], check=patient, item=replace(known[0].item, id="A-waits"))
    with pytest.raises(RunSilencedError, match=SILENCE) as ended:
        run_on_each([waits, *known], [Ending(1, 2)], is_heard=True)
    ((first, *_),) = ended.value.results
    assert (first.outcome.verdict, first.item.id) == (Verdict.INCONCLUSIVE, "A-waits")
    assert "answered no more" in first.outcome.reason
    assert ended.value.unended == 1


@pytest.mark.parametrize("silent", [(), (1,)])
def test_a_target_that_answers_again_is_there(silent: tuple[int, ...]) -> None:
    subject = Ending(*silent)
    (found,) = run_on_each(of_no_use(MANY), [subject], is_heard=True)
    assert len(found) == MANY
    assert len(silent) < subject.asked < MANY


def test_one_item_without_verdict_is_enough_when_all_have_ended() -> None:
    with pytest.raises(RunSilencedError, match=SILENCE) as ended:
        run_on_each(of_no_use(1), [Ending(1, 2)], is_heard=True)
    assert ended.value.unended == 0


def test_nobody_asks_a_target_of_which_nothing_was_heard() -> None:
    subject = Ending(1, 2)
    assert len(run_items(of_no_use(MANY), subject)) == MANY
    assert subject.asked == 0


def test_what_may_end_a_target_comes_last() -> None:
    """And what tells best why it ended, first of that."""
    order: list[str] = []
    chosen = [known for known in items("authoritative") if known.item.is_rough or known.item.id in {"A-aa", "A-prompt"}]

    def told(result: Result) -> None:
        order.append(result.item.id)

    run_items([replace(one, check=lambda _: passed("Yes.")) for one in chosen], Subject(), told)
    assert order[:3] == ["A-aa", "A-prompt", "A-garbage"]
    assert set(order[3:]) == {one.item.id for one in chosen} - set(order[:3]) != set()


def test_the_command_says_so_and_keeps_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_and_be_silenced(*arguments: object, **more: object) -> object:
        found = run_on_each(*arguments, **more)  # type: ignore[arg-type]
        raise RunSilencedError(SILENCE, found, 0)

    monkeypatch.setattr(verify_trial, "run_on_each", run_and_be_silenced)
    assert run_command_line(["verify", "authoritative", "embedded", "--item", "A-plain", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verifications"][0]["summary"]["pass"] == 1
    assert "answered no more" in told["verifications"][0]["incomplete"]
    (not_verified,) = told["not_verified"]
    assert "does not answer any more: none in 6 s" in not_verified["reason"]
