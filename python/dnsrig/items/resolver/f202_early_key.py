"""F-202: no new key before the hold-down time has passed."""

from dnsrig.items.resolver._anchors import DIG, LONG_S, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-202",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A new key does not become a trust anchor before the add hold-down time has passed.",
    references=("RFC 5011 section 2.2", "RFC 5011 section 2.4.1", "JPRS-2010 F-202"),
    severity=Severity.CRITICAL,
    consequence=(
        "Who has got hold of a key for a moment takes the zone over for good: its owner has no time to revoke it."
    ),
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "A new key is published beside the trust anchor, and both sign the keys, for some probes, but not for the "
        "hold-down "
        "time of an hour. Then the new key is there alone: names are not secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("trusts-new-keys-early",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Add a key, and take the old one away at once."""
    with trial_of(subject, LONG_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        trial.root.publish([*trial.root.anchors, trial.root.successor])
        trial.let_probe()
        trial.root.publish([trial.root.successor])
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed(f"Names are secure by a new key alone, long before {LONG_S} s have passed.", *shown)
        return passed("Names are not secure by a key that is new.", *shown)
