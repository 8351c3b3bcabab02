"""F-5011-restart: what is left of added keys after a restart."""

from dnsrig.items.resolver._anchors import DIG, SHORT_S, not_secure_at_first, secure_or_fail, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-5011-restart",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="What the resolver knows of its trust anchors outlives a restart.",
    references=("RFC 5011 section 4", "RFC 5011 section 2.4"),
    severity=Severity.ERROR,
    consequence="A resolver that is started again after a key has changed resolves nothing.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "A new key is published beside the trust anchor for the hold-down time and some probes. The resolver is "
        "stopped and "
        "started, and the new key is there alone: names are secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Add a key, wait, restart, and take the old one away."""
    with trial_of(subject, SHORT_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        trial.adopt_successor()
        trial.root.publish([trial.root.successor])
        trial.restart()
        return secure_or_fail(
            trial,
            "After a restart names are secure by the key that was added before.",
            "After a restart names are not secure by the key that was added before (see F-201).",
        )
