"""F-unusable-server: servers without usable responses."""

from dnsrig.items.resolver._servers import check_zones
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ZONES = (
    "silent.nsec.",
    "drops-edns.nsec.",
    "wrong-id.nsec.",
    "wrong-question.nsec.",
    "truncates-no-tcp.nsec.",
)

ITEM = Item(
    id="F-unusable-server",
    role="resolver",
    group="Servers that are wrong",
    requirement="Where a server gives no usable response, the resolver asks another.",
    references=("RFC 1034 section 5.3.3", "RFC 5452 section 9.1"),
    severity=Severity.ERROR,
    consequence="A single server that is down makes a zone unreachable at times.",
    procedure=(
        "Names of zones with two servers, one of which "
        "is silent, drops queries with EDNS, answers with another ID or another question, or truncates without "
        "TCP, are asked for until the "
        "one that is wrong was asked for two of them (eight names at most): each is answered."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.silent.nsec. A",
        "dig @{server} -p {port} any.fresh.drops-edns.nsec. A",
        "dig @{server} -p {port} any.fresh.wrong-id.nsec. A",
        "dig @{server} -p {port} any.fresh.wrong-question.nsec. A",
        "dig @{server} -p {port} any.fresh.truncates-no-tcp.nsec. A",
    ),
    needs=("upstream",),
    faults=("fails-unusable-server", "gives-up-at-once"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such zones."""
    return check_zones(subject, ZONES)
