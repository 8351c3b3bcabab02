"""F-5011-unsigned-key: new keys that no trust anchor signs."""

from dnsrig.items.resolver._anchors import DIG, SHORT_S, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-5011-unsigned-key",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A new key that no trust anchor has signed does not become one.",
    references=("RFC 5011 section 2.2", "RFC 5011 section 2.4.1"),
    severity=Severity.CRITICAL,
    consequence="Who is between the resolver and the zone for long enough puts keys of his own in.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "A new key is published beside the trust anchor, but signs the keys alone, for the hold-down time and "
        "some probes. Then "
        "it is there alone, and the resolver is started again: names are not secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("trusts-any-new-key",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Add a key that signs itself, wait, and take the other away."""
    with trial_of(subject, SHORT_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        forged = trial.root.successor
        trial.root.publish([*trial.root.anchors, forged], signers=[forged])
        trial.let_probe()
        trial.let_probe(SHORT_S)
        trial.root.publish([forged])
        # Some remember for a minute that the keys were bogus.
        trial.restart()
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("Names are secure by a key alone that no trust anchor has ever signed.", *shown)
        return passed("A key that no trust anchor has signed makes no name secure.", *shown)
