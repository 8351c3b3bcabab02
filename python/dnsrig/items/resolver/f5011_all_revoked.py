"""F-5011-all-revoked: no trust anchor is left."""

from dnsrig.items.resolver._anchors import DIG, LONG_S, not_secure_at_first, secure_by, trial_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.rolling_root import revoked
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-5011-all-revoked",
    role="resolver",
    group="Trust anchors (RFC 5011)",
    requirement="Where all trust anchors are revoked, nothing is secure any more.",
    references=("RFC 5011 section 5", "RFC 5011 section 2.1"),
    severity=Severity.CRITICAL,
    consequence="Keys that were given up go on to be trusted.",
    procedure=(
        "A resolver of its own has a root whose keys change, and clocks that are shortened. "
        "The only trust anchor is published with the REVOKE flag, and signs the keys, for some probes: names are "
        "not secure. "
        "Then it is there without the flag, and the resolver is started again: they are not either. Whether names "
        "are insecure then, as RFC 5011 "
        "section 5 says, or "
        "not resolved at all, is in the reason."
    ),
    dig=DIG,
    needs=("rfc5011",),
    faults=("keeps-anchors-fixed",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Revoke the only key, and let it come back."""
    with trial_of(subject, LONG_S) as trial:
        if (unready := not_secure_at_first(trial)) is not None:
            return unready
        only = trial.root.anchors[0]
        for key, how in ((revoked(only), "with the flag"), (only, "without the flag, which it had before")):
            trial.root.publish([key])
            trial.let_probe()
            # Some remember for a minute that the keys were bogus.
            trial.restart()
            is_trusted, shown = secure_by(trial)
            if is_trusted:
                return failed(f"Names are secure by a revoked key alone, {how}.", *shown)
        exchange = trial.ask()
        said = "not resolved" if exchange.rcode else "insecure"
        return passed(f"Once its only trust anchor is revoked, names are {said}.", exchange, *shown[1:])
