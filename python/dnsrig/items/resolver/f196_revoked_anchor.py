"""F-196: revoked keys as trust anchors."""

from dnsrig.items.resolver._anchors import DIG, LONG_S, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.rolling_root import revoked
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-196",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A revoked DNSKEY is no longer used as trust anchor.",
    references=("RFC 5011 section 2.1", "RFC 5011 section 4.2", "JPRS-2010 F-196"),
    severity=Severity.CRITICAL,
    consequence="A key that was stolen goes on to be trusted, though its owner has revoked it.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "Of two trust anchors one is published with the REVOKE flag for some probes. Then the keys are signed by "
        "it alone, with "
        "the flag: names are not secure. The resolver is stopped and started, and the key is there without the "
        "flag: they are "
        "not either."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed",),
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
        trial.root.publish([revoked(stolen)])
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("Names are secure by signatures of a revoked key alone.", *shown)
        trial.root.publish([stolen])
        trial.restart()
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("After a restart names are secure by a key alone that was revoked before.", *shown)
        return passed("A revoked key makes no name secure, with the flag, and without after a restart.", *shown)
