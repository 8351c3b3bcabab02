"""P-cache-subnet: client subnets in the cache."""

import dns.edns
from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

SUBNETS = (("198.51.100.0", "203.0.113.0"), ("198.51.100.0", None))
"""Of the first query and the second; None is a query without."""
PREFIX = 24

ITEM = Item(
    id="P-cache-subnet",
    role="proxy",
    group="Cache",
    requirement="What the upstream gave for the subnet of one client is not given from the cache to clients of others.",
    references=("RFC 7871 section 7.3.1", "RFC 7871 section 7.3.2", "RFC 5625 section 3"),
    severity=Severity.WARNING,
    consequence=(
        "Clients are sent to servers that were chosen for somebody else, far away or closed to them, until the record "
        "has expired."
    ),
    procedure=(
        "A name whose address depends on the client subnet (ECS) is asked for with one subnet, then with another; with "
        "one, then without. The upstream says for each that it is for that subnet alone. "
        "Where the proxy does not pass the option on, all get the same answer, which is right."
    ),
    dig=(
        "dig @{server} -p {port} x.subnet.rig.example A +subnet=198.51.100.0/24",
        "dig @{server} -p {port} x.subnet.rig.example A +subnet=203.0.113.0/24",
    ),
    needs=("edns",),
    faults=("proxy-cache-ignores-subnets",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for two clients."""
    alone = subject.ask(_query(names.fresh(names.SUBNET), SUBNETS[0][0]))
    if alone.client.message is None:
        return inconclusive(
            "Queries with a client subnet are not answered; P-known-options is about that.", alone.client
        )
    for first, second in SUBNETS:
        name = names.fresh(names.SUBNET)
        twice = ask_twice(subject, _query(name, first), _query(name, second))
        if isinstance(twice, Outcome):
            return twice
        upstream = twice.first.upstream
        passes = upstream is not None and any(isinstance(one, dns.edns.ECSOption) for one in upstream.asked.options)
        if not passes:
            return passed("No client subnet comes to the upstream: all clients get the same answer.")
        if twice.from_cache:
            return failed(
                f"What the upstream gave for {first}/{PREFIX} alone is given from the proxy's cache {_to(second)}.",
                twice.first.client,
                twice.second.client,
            )
    return passed("Clients of other subnets, and those that tell none, are answered by the upstream.")


def _to(subnet: str | None) -> str:
    return "to who tells no subnet" if subnet is None else f"for {subnet}/{PREFIX}"


def _query(name: dns.name.Name, subnet: str | None) -> Query:
    options = () if subnet is None else (dns.edns.ECSOption(subnet, PREFIX),)
    return Query(name=name, rtype=RdataType.A, rd=True, options=options)
