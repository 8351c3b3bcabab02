"""F-bailiwick-servers: other zones' name servers."""

import dns.name

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_spoofing import ABOVE, BAILIWICK, BELOW, HIJACKED
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-bailiwick-servers",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver believes a server nothing about the name servers of other zones.",
    references=("RFC 5452 section 6", "RFC 2181 section 5.4.1"),
    severity=Severity.CRITICAL,
    consequence="The servers of any zone can take others over, such as that of its parent.",
    procedure=(
        "A server of the tree tells of a name server, with its address, of another zone, and one of its own "
        "parent zone. Then "
        "names of these zones are asked for; that server would answer with the forged address."
    ),
    dig=(
        "dig @{server} -p {port} any.servers.bailiwick.unsigned. A +noedns",
        "dig @{server} -p {port} any.hijacked.unsigned. A +noedns   # not 198.18.2.66",
    ),
    needs=("upstream",),
    faults=("believes-other-servers", "takes-any-delegation"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask a server that tells of others, and then in those zones."""
    other = subject.fresh_name(dns.name.from_text("servers", dns.name.from_text(BAILIWICK)))
    forgeries = [
        (other, fresh_in(subject, HIJACKED), "a name server of another zone"),
        (fresh_in(subject, BELOW), fresh_in(subject, ABOVE), "a name server of the parent zone"),
    ]
    return check_forged(subject, forgeries)
