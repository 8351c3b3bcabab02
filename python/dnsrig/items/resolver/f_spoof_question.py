"""F-spoof-question: questions are compared."""

import dns.name

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_spoofing import POISONED
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-spoof-question",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver takes no response to another question than that of its query.",
    references=("RFC 5452 section 9.1", "RFC 1035 section 7.3"),
    severity=Severity.CRITICAL,
    consequence="Data that were forged by who cannot see its queries go into the cache and to all clients.",
    procedure=(
        "The response of a server of the tree comes behind forged ones that have the right ID but another name, "
        "type or class "
        "in the question; neither the name nor the one that they tell of has the forged address."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.spoof-name.unsigned. A +noedns   # not 198.18.2.66",
        "dig @{server} -p {port} any.fresh.spoof-type.unsigned. A +noedns",
    ),
    needs=("upstream",),
    faults=("believes-other-questions", "takes-any-question"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names whose responses come behind forged ones."""
    name = fresh_in(subject, "spoof-name.unsigned.")
    told = dns.name.Name([POISONED + name.labels[0], *name.labels[1:]])
    forgeries = [
        (name, told, "a response for another name"),
        (fresh_in(subject, "spoof-type.unsigned."), None, "a response for another type"),
    ]
    return check_forged(subject, forgeries)
