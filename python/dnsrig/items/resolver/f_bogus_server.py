"""F-bogus-server: servers whose data do not validate."""

from dnsrig.items.resolver._servers import check_zones
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ZONES = (
    "stale.nsec.",
    "strips-signatures.nsec.",
    "strips-proofs.nsec.",
)
NAMES = 12

ITEM = Item(
    id="F-bogus-server",
    role="resolver",
    group="Servers that are wrong",
    requirement="Where the data of one server do not validate, the resolver asks another.",
    references=("RFC 1034 section 5.3.3",),
    severity=Severity.WARNING,
    consequence=(
        "A single secondary that is not updated, or that drops DNSSEC records, makes a signed zone unreachable at "
        "times."
    ),
    procedure=(
        "Names of signed zones with two servers, one of which "
        "has signatures that have expired, leaves RRSIG records out, or leaves NSEC records out, are asked for until "
        "the one that is wrong was asked for two of them (twelve names at most): not two of them fail."
    ),
    dig=tuple(f"dig @{{server}} -p {{port}} any.fresh.{zone} A" for zone in ZONES),
    needs=("upstream",),
    faults=("fails-bogus-server", "gives-up-at-once", "gives-up-on-bogus"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such zones."""
    return check_zones(subject, ZONES, names=NAMES)
