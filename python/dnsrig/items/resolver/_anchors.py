"""What items about trust anchors that follow a zone's keys share (RFC 5011)."""

from contextlib import AbstractContextManager

from dnsrig.verification.anchor_trials import AnchorTrial
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.rolling_root import TTL_S
from dnsrig.verification.verdicts import Outcome, Shown, failed, inconclusive, passed

DIG = ("dig @{server} -p {port} . DNSKEY +dnssec +multi   # and the resolver's own list of trust anchors",)
SHORT_S = 4
"""A hold-down time that is waited for."""
LONG_S = 3600
"""A hold-down time that does not pass while an item runs."""


def trial_of(subject: ResolverSubject, hold_down_s: int, anchors: int = 1) -> AbstractContextManager[AnchorTrial]:
    """Start a resolver of the subject's kind with so many trust anchors."""
    if subject.trials is None:
        raise ValueError("the item needs rfc5011")
    return subject.trials(hold_down_s, anchors)


def not_secure_at_first(trial: AnchorTrial) -> Outcome | None:
    """Say that nothing is secure from the beginning, so that nothing can be told; None if all is well."""
    if trial.secure() is not None:
        return None
    return inconclusive("Names are not secure before any key has changed.", trial.ask(), trial.states())


def broken_by_revocation(trial: AnchorTrial) -> Outcome | None:
    """Say that names are not secure while one of two keys is revoked; None if they are, by the other."""
    if trial.secure() is not None:
        return None
    return failed("While one of two keys is revoked, names are not secure by the other.", trial.ask(), trial.states())


def secure_or_fail(trial: AnchorTrial, good: str, bad: str) -> Outcome:
    """Judge what is to be secure by the keys that are published now, once older ones are not in the cache any more."""
    pause(TTL_S + 1)
    exchange = trial.secure()
    if exchange is None:
        return failed(bad, trial.ask(), trial.states())
    return passed(good, exchange, trial.states())


def secure_by(trial: AnchorTrial) -> tuple[bool, tuple[Shown, ...]]:
    """Say whether names get secure with the keys that are published, and what shows it."""
    is_never, exchange = trial.never_secure()
    shown: tuple[Exchange | Shown, ...] = (exchange, trial.states())
    return not is_never, shown
