"""F-5011-missing-key: keys that are missing for a while."""

from dnsrig.items.resolver._anchors import DIG, SHORT_S, not_secure_at_first, secure_or_fail, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

ITEM = Item(
    id="F-5011-missing-key",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A trust anchor that is missing in the zone for a while stays one.",
    references=("RFC 5011 section 4.2", "RFC 5011 section 4.1"),
    severity=Severity.ERROR,
    consequence="A zone that takes a key out by mistake, and puts it back, is lost to the resolver.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "A new key becomes a trust anchor beside the first. The first goes for some probes, then it is there "
        "alone: names are "
        "secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("drops-missing-keys",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Add a key, take the old one away for a while, and then the new one."""
    with trial_of(subject, SHORT_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        trial.adopt_successor()
        trial.root.publish([trial.root.successor])
        trial.let_probe(SHORT_S)
        if trial.secure() is None:
            return inconclusive("The new key did not become a trust anchor (see F-201).", trial.ask(), trial.states())
        trial.root.publish(trial.root.anchors)
        return secure_or_fail(
            trial,
            "Names are secure by a key alone that was missing for a while.",
            "Names are not secure by a key alone that was missing for a while.",
        )
