"""N-tcp: TCP to port 53."""

from dns.rdatatype import RdataType

from dnsrig.items.path._families import judge_each
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject
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
    faults=(
        "path-blocks-tcp",
        "path-resets-tcp",
        "path-blocks-tcp-ipv6",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask by each version of IP, and compare."""
    found = judge_each(subject, _check)
    if isinstance(found, Outcome):
        return found
    return passed(f"TCP passes over {subject.spoken}.", *found[-1].evidence)


def _check(subject: PathSubject, family: Family) -> Outcome:
    way = subject.way(family)
    exchange = way.asker.tcp(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True))
    return subject.lost(way, exchange, "tcp") if exchange.message is None else passed("", exchange)
