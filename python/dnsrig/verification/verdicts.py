"""What an item can find, how much that matters, and what it rests on."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.transcript import transcript


class Verdict(StrEnum):
    """How an item ended."""

    PASS = "pass"
    PASS_BY_TCP = "pass_by_tcp"
    """The sentence holds, but only because the client can go on by TCP."""
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    """The target has not what the item is about, such as a wildcard in the zone."""
    INCONCLUSIVE = "inconclusive"
    """It could not be found out, such as when the network lost messages."""


class Severity(StrEnum):
    """How much a failure matters to those who use the target."""

    NOTICE = "notice"
    """Nobody loses an answer; a recommendation is not followed."""
    WARNING = "warning"
    """Some clients lose answers or get them late, or a safety margin is gone."""
    ERROR = "error"
    """Names or types cannot be resolved, or not validated, by clients that do it right."""
    CRITICAL = "critical"
    """The zone, or all clients, lose service, or forged data are taken for good."""

    @property
    def rank(self) -> int:
        """Its place in ascending order."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A message that decided, as dig would show it, or what was computed."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an item found: the verdict, the reason in one sentence, and what it rests on."""

    verdict: Verdict
    reason: str
    evidence: tuple[Evidence, ...] = ()


Shown = Exchange | Evidence


def _evidence(shown: Iterable[Shown]) -> tuple[Evidence, ...]:
    different = {id(one): one for one in shown}.values()
    return tuple(one if isinstance(one, Evidence) else Evidence(one.title, transcript(one)) for one in different)


def passed(reason: str, *shown: Shown) -> Outcome:
    """Say that the sentence holds."""
    return Outcome(Verdict.PASS, reason, _evidence(shown))


def passed_by_tcp(reason: str, *shown: Shown) -> Outcome:
    """Say that the sentence holds only by TCP."""
    return Outcome(Verdict.PASS_BY_TCP, reason, _evidence(shown))


def failed(reason: str, *shown: Shown) -> Outcome:
    """Say that the sentence does not hold."""
    return Outcome(Verdict.FAIL, reason, _evidence(shown))


def not_applicable(reason: str, *shown: Shown) -> Outcome:
    """Say that the target has not what the sentence is about."""
    return Outcome(Verdict.NOT_APPLICABLE, reason, _evidence(shown))


def inconclusive(reason: str, *shown: Shown) -> Outcome:
    """Say that it could not be found out."""
    return Outcome(Verdict.INCONCLUSIVE, reason, _evidence(shown))
