"""What the items about signatures share: each looks at every signature of the sample and names those that are wrong."""

from collections.abc import Callable

from dnsrig.items.authoritative._answers import Seen, first_shown, nothing_seen, seen_signed
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
    return passed(held.format(count=count), *first_shown(seen.exchange for seen, _ in judged)[:1])
