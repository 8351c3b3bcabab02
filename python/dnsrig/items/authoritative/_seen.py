"""What the items about signatures share: each looks at every signature of the sample and names those that are wrong."""

from collections.abc import Callable

from dnsrig.items.authoritative._answers import Seen, first_shown, nothing_seen, seen_signed
from dnsrig.verification.doubts import LONGEST_S
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, passed


def check_seen(subject: AuthoritativeSubject, trouble: Callable[[Seen], str | None], held: str) -> Outcome:
    """Judge every signed RRset of the sample by `trouble`: a sentence on what is wrong, "", or None if it has no say.

    `held` is the reason of a pass, with {count} for the number of RRsets judged.
    """
    judged = [(seen, said) for seen in seen_signed(subject) if (said := trouble(seen)) is not None]
    wrong = [(seen, said) for seen, said in judged if said]
    if wrong:
        others = len({seen.title for seen, _ in wrong}) - 1
        more = f" {others} more RRset{'s are' if others > 1 else ' is'} wrong likewise." if others else ""
        return failed(f"{wrong[0][1]}{more}", *first_shown(seen.exchange for seen, _ in wrong))
    if not judged:
        return nothing_seen("such a signature")
    count = len({seen.title for seen, _ in judged})
    return passed(
        f"{held.format(count=count)}{_of_how_many(subject)}", *first_shown(seen.exchange for seen, _ in judged)[:1]
    )


def _of_how_many(subject: AuthoritativeSubject) -> str:
    """Say of a large zone how much of it was asked for, and what was done with the rest; "" of others."""
    known = subject.known_data
    if known.places_in_all <= len(known.places):
        return ""
    asked = f" {len(known.places)} of {known.places_in_all} RRsets of the zone were asked for"
    doubts = known.doubts
    if not doubts.signatures:
        return f"{asked}."
    verified = "verified, too" if doubts.is_verified else f"not verified, which took longer than {LONGEST_S:.0f} s"
    return (
        f"{asked}, among them what is doubtful in its data, whose {doubts.signatures} signatures were all looked at"
        f" (times, labels, TTLs, keys), and {verified}."
    )
