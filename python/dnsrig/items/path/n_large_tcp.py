"""N-large-tcp: large responses by TCP, and path MTU discovery."""

from dns.rdatatype import RdataType

from dnsrig.items.path._families import judge_each
from dnsrig.items.path._through import different
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

OCTETS = 60_000

ITEM = Item(
    id="N-large-tcp",
    role="path",
    group="TCP",
    requirement="Responses of 60000 octets come through the path by TCP.",
    references=("RFC 7766 section 8", "RFC 2923 section 2.1", "RFC 8201 section 4"),
    severity=Severity.ERROR,
    consequence="Connections open and then stall where a link is narrow and the messages that say so are dropped.",
    procedure="TXT records whose response has 60000 octets are asked for by TCP, over IPv4 and IPv6.",
    dig=("dig @{server} -p {port} x.size-60000.rig.example TXT +tcp",),
    faults=("path-blocks-tcp", "path-resets-tcp", "path-resets-large-tcp", "path-blocks-tcp-ipv6", "path-hides-mtu"),
)


def check(subject: PathSubject) -> Outcome:
    """Ask by each version of IP, and compare."""
    found = judge_each(subject, _check)
    return found if isinstance(found, Outcome) else passed(f"{OCTETS} octets come by TCP over {subject.spoken}.")


def _check(subject: PathSubject, family: Family) -> Outcome:
    way = subject.way(family)
    exchange = way.asker.tcp(Query(name=names.fresh(names.sized(OCTETS)), rtype=RdataType.TXT, rd=True))
    if exchange.message is None:
        return subject.lost(way, exchange, "tcp")
    return different(way, exchange) if exchange.octets < OCTETS else passed("")
