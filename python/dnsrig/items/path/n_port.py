"""N-port: source ports behind the path."""

from collections.abc import Sequence
from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.items._chance import pattern
from dnsrig.items.path._families import judge_each
from dnsrig.verification.asker import Asker
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

QUERIES = 100
UNANSWERED_WAITS_S = (0.02,)
"""For responses that do not come anyhow."""
ARRIVAL_S = 1.0
"""Within this time the last of such queries has come to the server."""

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
        "the path are looked at as well. Whether the responses come back does not matter."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A   # often, and tcpdump at the server",),
    faults=("path-translates-to-few-ports",),
)


def check(subject: PathSubject) -> Outcome:
    """Look at many queries."""
    found = judge_each(subject, _check)
    if isinstance(found, Outcome):
        return found
    return passed(f"No pattern shows: {', '.join(one.reason for one in found)}.")


def _check(subject: PathSubject, family: Family) -> Outcome:
    """Judge one version of IP; where it passes, a clause says how many ports there are."""
    way, shut = subject.way(family), subject.shut(family)
    if shut and not subject.reaches(family):
        return inconclusive(shut)
    if shut:
        queries = _asked(replace(way.asker, udp_waits_s=UNANSWERED_WAITS_S, habits=None))
        pause(ARRIVAL_S)
    else:
        queries = _asked(way.asker)
    ports = _ports(subject, family, queries)
    version = VERSIONS[family]
    if len(ports) < QUERIES // 2:
        return inconclusive(f"{len(ports)} of {QUERIES} queries by {version} came to the server.")
    found = pattern(ports)
    if found:
        return _judged(found, version, ports, _ports(subject, family, _asked(way.direct)))
    return passed(f"{len(set(ports))} different ones in {len(ports)} queries by {version}")


def _judged(found: str, version: str, ports: list[int], direct: list[int]) -> Outcome:
    shown = Evidence("ports at the server, in this order", " ".join(str(port) for port in ports))
    if len(direct) < QUERIES // 2 or pattern(direct):
        return inconclusive(f"By {version} {found}, and without the path no better ones are seen.", shown)
    return failed(f"By {version} they can be guessed: {found}; without the path they cannot.", shown)


def _asked(asker: Asker) -> Sequence[Query]:
    """Ask, one query after the other, and give what was asked."""
    queries = [Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None) for _ in range(QUERIES)]
    for query in queries:
        asker.udp(query)
    return queries


def _ports(subject: PathSubject, family: Family, queries: Sequence[Query]) -> list[int]:
    """Give the ports that the server saw, one a query, in their order."""
    seen = [subject.seen(subject.way(family), query) for query in queries]
    return [came[0].source.port for came in seen if came]
