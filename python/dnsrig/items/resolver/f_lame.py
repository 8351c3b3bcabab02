"""F-lame: lame servers."""

from dnsrig.items.resolver._servers import check_zones
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ZONES = (
    "lame.nsec.",
    "servfail.nsec.",
    "lame-upwards.nsec.",
)

ITEM = Item(
    id="F-lame",
    role="resolver",
    group="Servers that are wrong",
    requirement="Where a server refuses, fails, or refers upwards, the resolver asks another.",
    references=("RFC 1034 section 5.3.3", "RFC 1912 section 2.8"),
    severity=Severity.ERROR,
    consequence="A single server that is set up wrong makes a zone unreachable at times.",
    procedure=(
        "Names of zones with two servers, one of which "
        "refuses, answers with SERVFAIL, or refers to the root, are asked for until the "
        "one that is wrong was asked for two of them (eight names at most): each is answered."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.lame.nsec. A",
        "dig @{server} -p {port} any.fresh.servfail.nsec. A",
        "dig @{server} -p {port} any.fresh.lame-upwards.nsec. A",
    ),
    needs=("upstream",),
    faults=("fails-lame", "gives-up-at-once"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of such zones."""
    return check_zones(subject, ZONES)
