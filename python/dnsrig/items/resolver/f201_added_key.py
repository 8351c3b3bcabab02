"""F-201: a new key after the hold-down time."""

from dnsrig.items.resolver._anchors import DIG, SHORT_S, not_secure_at_first, secure_or_fail, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-201",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A new key becomes a trust anchor once the add hold-down time has passed.",
    references=("RFC 5011 section 2.4.1", "RFC 5011 section 4.1", "JPRS-2010 F-201"),
    severity=Severity.ERROR,
    consequence="When the old key goes, as the root's did in 2018, nothing resolves any more.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "A new key is published beside the trust anchor, and both sign the keys, for the hold-down time and some "
        "probes. Then "
        "the new key is there alone: names are secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Add a key, wait, and take the old one away."""
    with trial_of(subject, SHORT_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        trial.adopt_successor()
        trial.root.publish([trial.root.successor])
        return secure_or_fail(
            trial,
            f"After {SHORT_S} s and some probes names are secure by the new key alone.",
            f"The new key was there for {SHORT_S} s and some probes more, but names are not secure by it alone.",
        )
