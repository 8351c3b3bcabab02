"""F-196: revoked keys as trust anchors."""

from dnsrig.items.resolver._anchors import DIG, LONG_S, broken_by_revocation, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.rolling_root import revoked
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="F-196",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A revoked DNSKEY is no longer used as trust anchor.",
    references=("RFC 5011 section 2.1", "RFC 5011 section 4.2", "JPRS-2010 F-196"),
    severity=Severity.CRITICAL,
    consequence="A key that was stolen goes on to be trusted, though its owner has revoked it.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. Of two trust anchors one "
        "is published with the REVOKE flag for some probes: names stay secure by the other. Then the keys are signed "
        "by the first alone, with the flag: names are not secure. The resolver is stopped, and started with the other "
        "key alone: names are secure. Then the first is there alone, without the flag: they are not."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed", "loses-all-with-revoked"),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Revoke one of two keys, and let it sign alone, with the flag, and without after a restart."""
    with trial_of(subject, LONG_S, anchors=2) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        stolen, other = trial.root.anchors
        trial.root.publish([revoked(stolen), other])
        trial.let_probe()
        if (broken := broken_by_revocation(trial)) is not None:
            return broken
        trial.root.publish([revoked(stolen)])
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("Names are secure by signatures of a revoked key alone.", *shown)
        trial.root.publish([other])
        trial.restart()
        if trial.secure() is None:
            said = "After a restart names are not secure by the other key, so of the revoked one nothing can be told."
            return inconclusive(said, trial.ask(), trial.states())
        trial.root.publish([stolen])
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("After a restart names are secure by a key alone that was revoked before.", *shown)
        return passed("A revoked key makes no name secure, with the flag, and without after a restart.", *shown)
