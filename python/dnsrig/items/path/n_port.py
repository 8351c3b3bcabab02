"""N-port: source ports behind the path."""

from dns.rdatatype import RdataType

from dnsrig.items._chance import pattern
from dnsrig.verification.asker import Asker
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

QUERIES = 100

ITEM = Item(
    id="N-port",
    role="path",
    group="Changes",
    requirement="The source ports of queries by UDP cannot be guessed beyond the path, where addresses are translated.",
    references=("RFC 5452 section 9.2", "RFC 4787 section 4.2"),
    severity=Severity.ERROR,
    consequence=(
        "A resolver behind the path takes forged responses though it draws its ports well: address translation undoes "
        "what protects it."
    ),
    procedure=(
        f"By each version of IP {QUERIES} addresses are asked for, one after the other, each from a port that the "
        "system draws; the ports that the server sees follow no pattern. Where they do, those of queries without "
        "the path are looked at as well."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A   # often, and tcpdump at the server",),
    faults=("path-translates-to-few-ports",),
)


def check(subject: PathSubject) -> Outcome:
    """Look at many queries."""
    said: list[str] = []
    for family in subject.families:
        way = subject.way(family)
        ports = _ports(subject, family, way.asker)
        version = "IPv4" if family == "ipv4" else "IPv6"
        if len(ports) < QUERIES // 2:
            return inconclusive(f"{len(ports)} of {QUERIES} queries by {version} came to the server.")
        found = pattern(ports)
        if found:
            return _judged(found, version, ports, _ports(subject, family, way.direct))
        said.append(f"{len(set(ports))} different ones in {len(ports)} queries by {version}")
    return passed(f"No pattern shows: {', '.join(said)}.")


def _judged(found: str, version: str, ports: list[int], direct: list[int]) -> Outcome:
    shown = Evidence("ports at the server, in this order", " ".join(str(port) for port in ports))
    if len(direct) < QUERIES // 2 or pattern(direct):
        return inconclusive(f"By {version} {found}, and without the path no better ones are seen.", shown)
    return failed(f"By {version} they can be guessed: {found}; without the path they cannot.", shown)


def _ports(subject: PathSubject, family: Family, asker: Asker) -> list[int]:
    """Give the ports that the server saw, one a query, in their order."""
    found: list[int] = []
    for _ in range(QUERIES):
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
        asker.udp(query)
        seen = subject.seen(subject.way(family), query)
        found += [seen[0].source.port] if seen else []
    return found
