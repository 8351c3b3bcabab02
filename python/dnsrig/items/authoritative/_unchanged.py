"""What items share that compare answers of different times: a zone that is changed meanwhile is no fault."""

from collections.abc import Callable
from functools import wraps

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Verdict, inconclusive

Check = Callable[[AuthoritativeSubject], Outcome]


def unless_changed(check: Check) -> Check:
    """Have a failure stand only where the zone's serial is the same as before all that the item looked at.

    Where it is another, the item is run once more, on nothing that was kept; what then fails while the serial moves
    again is inconclusive.
    """

    @wraps(check)
    def checked(subject: AuthoritativeSubject) -> Outcome:
        # Asked for before anything else.
        _ = subject.soa
        outcome = check(subject)
        if outcome.verdict is not Verdict.FAIL or not _has_changed(subject):
            return outcome
        again = subject.renewed()
        _ = again.soa
        outcome = check(again)
        if outcome.verdict is not Verdict.FAIL or not _has_changed(again):
            return outcome
        first, now = again.serial_of(again.soa), again.serial_of(again.asker.ask(soa_query(again)))
        return inconclusive(f"The zone is being changed, from serial {first} to {now} meanwhile. {outcome.reason}")

    return checked


def _has_changed(subject: AuthoritativeSubject) -> bool:
    """Whether the serial is another than at first; where it cannot be told, it is not."""
    first, now = subject.serial_of(subject.soa), subject.serial_of(subject.asker.ask(soa_query(subject)))
    return first is not None and now is not None and first != now
