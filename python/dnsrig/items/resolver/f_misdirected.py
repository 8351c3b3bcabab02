"""F-misdirected: aliases that do not follow from their DNAME record."""

import dns.name

from dnsrig.items.resolver._forged import check_forged
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_spoofing import MISDIRECTED
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-misdirected",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver follows no alias that does not follow from the DNAME record above its name.",
    references=("RFC 6672 section 5.3.1", "RFC 6672 section 3.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Who can change responses sends the users of any name below a signed DNAME record where he likes: the alias "
        "itself is not signed."
    ),
    procedure=(
        "The server of a signed zone gives its DNAME record, with a right signature, and an alias that leads "
        "elsewhere. The response to a name below has not the address that is there."
    ),
    dig=("dig @{server} -p {port} any.tree.misdirected.nsec. A   # not 198.18.2.66",),
    needs=("upstream",),
    faults=("believes-any-alias", "takes-any-alias"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name below such a record."""
    name = subject.fresh_name(dns.name.from_text("tree", dns.name.from_text(MISDIRECTED)))
    return check_forged(subject, [(name, None, "an alias that its DNAME record does not lead to")])
