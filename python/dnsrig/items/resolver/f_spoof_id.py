"""F-spoof-id: IDs are compared."""

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-spoof-id",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver takes no response with another ID than that of its query.",
    references=("RFC 5452 section 9.1", "RFC 1035 section 7.3"),
    severity=Severity.CRITICAL,
    consequence="Data that were forged by who cannot see its queries go into the cache and to all clients.",
    procedure=(
        "The response of a server of the tree comes behind forged ones with IDs near the right one and 300 drawn "
        "ones; the "
        "address in the answer is the right one, or there is none."
    ),
    dig=("dig @{server} -p {port} any.fresh.spoof-id.unsigned. A +noedns   # not 198.18.2.66",),
    needs=("upstream",),
    faults=("believes-other-ids", "takes-any-id"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name whose response comes behind forged ones."""
    name = fresh_in(subject, "spoof-id.unsigned.")
    return check_forged(subject, [(name, None, "a response with another ID")])
