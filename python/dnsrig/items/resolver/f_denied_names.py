"""F-denied-names: servers that deny empty non-terminals."""

import dns.name

from dnsrig.items.resolver._servers import check_places
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_empty_names import DENIES_EMPTY, FEW, REFUSES_EMPTY
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-denied-names",
    role="resolver",
    group="Servers that are wrong",
    requirement=(
        "Where servers refuse empty non-terminals, names below them are resolved all the same; so are they where "
        "servers deny them, unless the resolver believes that."
    ),
    references=("RFC 9156 section 2.3", "RFC 9156 section 5", "RFC 8020 section 2"),
    severity=Severity.NOTICE,
    consequence=(
        "Names of such servers, which answer for them, do not resolve once the resolver minimises what it asks for. "
        "RFC 8020 lets it believe a denial: then the zone is to blame, and its users call the resolver's operator."
    ),
    procedure=(
        "Names in two unsigned zones are asked for, two in each; the one zone's server answers with NXDOMAIN for the "
        "empty non-terminals above them, the other's with REFUSED. The addresses come, or NXDOMAIN "
        "in the first zone."
    ),
    dig=(
        f"dig @{{server}} -p {{port}} any.fresh.{FEW}.{DENIES_EMPTY} A +noedns",
        f"dig @{{server}} -p {{port}} any.fresh.{FEW}.{REFUSES_EMPTY} A +noedns",
    ),
    needs=("upstream",),
    faults=("believes-refused-names",),
)
DENIED, REFUSED = (dns.name.from_text(f"fresh.{FEW}.{zone}") for zone in (DENIES_EMPTY, REFUSES_EMPTY))


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of both."""
    return check_places(subject, (DENIED, REFUSED), "whose server does so", believed=DENIED)
