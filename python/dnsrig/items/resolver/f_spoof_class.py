"""F-spoof-class: classes are compared."""

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-spoof-class",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver takes no response to a question of another class than that of its query.",
    references=("RFC 5452 section 9.1", "RFC 1035 section 7.3"),
    severity=Severity.WARNING,
    consequence="What is to make sure that a response belongs to its query is not looked at in whole.",
    procedure=(
        "The response of a server of the tree comes behind a forged one that has the right ID, name and type, but "
        "class "
        "CH in the question; the name has not the forged address."
    ),
    dig=("dig @{server} -p {port} any.fresh.spoof-class.unsigned. A +noedns   # not 198.18.2.66",),
    needs=("upstream",),
    faults=("believes-other-classes", "takes-any-question"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name whose response comes behind a forged one."""
    name = fresh_in(subject, "spoof-class.unsigned.")
    return check_forged(subject, [(name, None, "a response for another class")])
