"""F-truncated-data: truncated responses are left aside."""

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-truncated-data",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver uses no data of truncated responses.",
    references=("RFC 2181 section 9",),
    severity=Severity.ERROR,
    consequence="Incomplete RRsets go into the cache, and fragments that were replaced on the way are believed.",
    procedure=("A server gives a wrong address with TC by UDP, and the right one by TCP."),
    dig=("dig @{server} -p {port} any.fresh.spoof-truncated.unsigned. A +noedns   # not 198.18.2.66",),
    needs=("upstream",),
    faults=("believes-truncated-data", "takes-truncated"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name of such a server."""
    name = fresh_in(subject, "spoof-truncated.unsigned.")
    return check_forged(subject, [(name, None, "records of a truncated response")])
