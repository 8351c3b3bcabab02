"""F-spoof-source: sources are compared."""

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-spoof-source",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver takes no response from another address or port than it asked.",
    references=("RFC 5452 section 9.1", "RFC 2181 section 4"),
    severity=Severity.CRITICAL,
    consequence=(
        "Whoever can see or guess an ID can answer for any server, also where the network keeps its address from "
        "being forged."
    ),
    procedure=(
        "The response of a server of the tree comes behind forged ones that are right but for the forged address "
        "and for where "
        "they come from: another address, and another port."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.spoof-address.unsigned. A +noedns   # not 198.18.2.66",
        "dig @{server} -p {port} any.fresh.spoof-port.unsigned. A +noedns",
    ),
    needs=("upstream",),
    faults=("believes-other-sources", "takes-any-source"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names whose responses come behind forged ones."""
    forgeries = [
        (fresh_in(subject, "spoof-address.unsigned."), None, "a response from another address"),
        (fresh_in(subject, "spoof-port.unsigned."), None, "a response from another port"),
    ]
    return check_forged(subject, forgeries)
