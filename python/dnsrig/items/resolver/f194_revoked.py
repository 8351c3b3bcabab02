"""F-194: revoked keys."""

from dnsrig.items.resolver._anchors import DIG, LONG_S, broken_by_revocation, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.rolling_root import revoked
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-194",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="A self-signed DNSKEY with the REVOKE flag is taken as revoked.",
    references=("RFC 5011 section 2.1", "JPRS-2010 F-194"),
    severity=Severity.CRITICAL,
    consequence="A key that was stolen goes on to be trusted, though its owner has revoked it.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "Of two trust anchors one is published with the REVOKE flag, and signs the keys as the other does, for "
        "some probes: "
        "names stay secure. Then it is there alone, without the flag: names are not secure."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed", "loses-all-with-revoked"),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Revoke one of two keys, and let it come back."""
    with trial_of(subject, LONG_S, anchors=2) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        stolen, other = trial.root.anchors
        trial.root.publish([revoked(stolen), other])
        trial.let_probe()
        if (broken := broken_by_revocation(trial)) is not None:
            return broken
        trial.root.publish([stolen])
        is_trusted, shown = secure_by(trial)
        if is_trusted:
            return failed("Names are secure by a key alone that was revoked before.", *shown)
        return passed("A key that was revoked does not make names secure any more.", *shown)
