"""What items about IDs and source ports share: many queries of the proxy, as the upstream saw them."""

from collections.abc import Callable

from dns.rdatatype import RdataType

from dnsrig.items._chance import pattern
from dnsrig.items.proxy._through import changed, differences, no_difference
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import owner_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, failed, inconclusive, passed

QUERIES = 40


def check_guessing(subject: ProxySubject, number_of: Callable[[Forwarded], int]) -> Outcome:
    """Ask for many names one after the other, and look for a pattern in a number of 16 bits that each query has."""
    seen: list[Forwarded] = []
    for _ in range(QUERIES):
        through = subject.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None))
        if through.client.message is None:
            return subject.unanswered(through)
        found = differences(through, no_difference, owner_differences)
        if found:
            return changed(through, found)
        seen += [one for one in through.forwarded if one.transport == "udp"]
    if len(seen) < QUERIES // 2:
        return inconclusive(f"The upstream got {len(seen)} of {QUERIES} queries by UDP.")
    numbers = [number_of(one) for one in seen]
    shown = Evidence("at the upstream, in this order", " ".join(str(number) for number in numbers))
    said = pattern(numbers)
    if said:
        return failed(f"They can be guessed: {said}.", shown)
    return passed(f"{len(set(numbers))} different ones in {len(numbers)} queries, without pattern.", shown)
