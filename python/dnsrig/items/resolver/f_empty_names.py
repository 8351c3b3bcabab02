"""F-empty-names: names below empty non-terminals."""

import dns.name

from dnsrig.items.resolver._servers import check_places
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_empty_names import DEEP, EMPTY_LABELS, FEW, MANY, MANY_LABELS
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-empty-names",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver resolves names below empty non-terminals, however many there are.",
    references=("RFC 9156 section 2.3", "RFC 8020 section 2", "RFC 4592 section 2.2.2"),
    severity=Severity.ERROR,
    consequence=(
        "Names of many labels, as in ip6.arpa and in lists of addresses, do not resolve: the resolver asks label by "
        "label, and takes a name without records for the one below it."
    ),
    procedure=(
        f"Two names below {EMPTY_LABELS + 1} empty non-terminals are asked for, and two below {MANY_LABELS + 1}; the "
        "server answers for each of these as it should. The addresses come."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{FEW}.{DEEP} A +noedns",),
    needs=("upstream",),
    faults=("stops-at-empty-names",),
)
PLACES = tuple(dns.name.from_text(f"fresh.{labels}.{DEEP}") for labels in (FEW, MANY))


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names below few and below many."""
    return check_places(subject, PLACES, "below empty non-terminals")
