"""N-tcp: TCP to port 53."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import FAMILIES, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="N-tcp",
    role="path",
    group="TCP",
    requirement="Queries by TCP to port 53 come through the path.",
    references=("RFC 7766 section 5", "RFC 9210 section 3"),
    severity=Severity.ERROR,
    consequence="Truncated responses cannot be had whole: large RRsets do not exist behind the path.",
    procedure="An address is asked for by TCP, over IPv4 and IPv6.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +tcp",),
    needs=("ipv4",),
    faults=(
        "path-blocks-tcp",
        "path-resets-tcp",
        "path-blocks-tcp-ipv6",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    exchange = None
    for family in FAMILIES:
        if subject.lacks(family) is not None:
            continue
        way = subject.way(family)
        exchange = way.asker.tcp(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True))
        if exchange.message is None:
            return subject.lost(way, exchange, "tcp")
    return passed("TCP passes.", *((exchange,) if exchange is not None else ()))
