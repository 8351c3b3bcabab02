"""What items about IDs and source ports share: many queries of the proxy, as the upstream saw them."""

from collections.abc import Callable

from dns.rdatatype import RdataType

from dnsrig.items._chance import pattern, relation
from dnsrig.items.proxy._through import by_tcp_alone, changed, differences, no_difference
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import owner_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, failed, inconclusive, passed

QUERIES = 100


def id_of(one: Forwarded) -> int:
    """Give the ID of a query."""
    return int.from_bytes(one.query[:2])


def check_ids(subject: ProxySubject) -> Outcome:
    """Ask for many names one after the other, and look for a pattern in the IDs of the proxy's queries."""
    return _check(subject, id_of, lambda _: "")


def check_ports(subject: ProxySubject) -> Outcome:
    """Look for a pattern in their source ports, which are not to follow from the IDs either."""

    def follows(seen: list[Forwarded]) -> str:
        return relation([id_of(one) for one in seen], [one.source.port for one in seen])

    return _check(subject, lambda one: one.source.port, follows)


def _check(
    subject: ProxySubject, number_of: Callable[[Forwarded], int], follows: Callable[[list[Forwarded]], str]
) -> Outcome:
    seen: list[Forwarded] = []
    forwarded: list[Forwarded] = []
    for _ in range(QUERIES):
        through = subject.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None))
        if through.client.message is None:
            return subject.unanswered(through)
        found = differences(through, no_difference, owner_differences)
        if found:
            return changed(through, found)
        forwarded += through.forwarded
        # What is sent once more because nothing came back may have the same ID and port.
        sent = {(id_of(one), one.source.port): one for one in reversed(through.forwarded) if one.transport == "udp"}
        seen += reversed(sent.values())
    if len(seen) < QUERIES // 2:
        return by_tcp_alone(forwarded) or inconclusive(f"The upstream got {len(seen)} of {QUERIES} queries by UDP.")
    numbers = [number_of(one) for one in seen]
    shown = Evidence("at the upstream, in this order", " ".join(str(number) for number in numbers))
    said = pattern(numbers) or follows(seen)
    if said:
        return failed(f"They can be guessed: {said}.", shown)
    return passed(f"{len(set(numbers))} different ones in {len(numbers)} queries, without pattern.", shown)
