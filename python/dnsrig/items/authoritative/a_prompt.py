"""A-prompt: how soon responses come."""

from statistics import median

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TIMES = 3
LONGEST_MS = 750.0
"""Longer than any way on Earth and back by satellite, and about what resolvers first wait for."""
ITEM = Item(
    id="A-prompt",
    role="authoritative",
    group="Transport",
    requirement=f"Responses by UDP come within {LONGEST_MS:g} ms.",
    references=("RFC 8906 section 2", "RFC 1035 section 4.2.1", "RFC 9520 section 3.2"),
    severity=Severity.WARNING,
    consequence=(
        "Resolvers wait for some tenths of a second before they ask again or elsewhere: they send several queries for "
        "each answer, and their users wait."
    ),
    procedure=f"The SOA record is asked for {TIMES} times by UDP; the median counts, lost messages do not.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # Query time",),
    needs=("zone",),
    faults=("slow",),
    runs_alone=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask and look at the time that the response took, each by its own try."""
    exchanges = [subject.asker.udp(soa_query(subject)) for _ in range(TIMES)]
    answered = [exchange for exchange in exchanges if exchange.response is not None]
    if not answered:
        return inconclusive(f"There is {exchanges[0].trouble}; A-plain is about that.", exchanges[0])
    middle_ms = median(exchange.elapsed_ms for exchange in answered)
    if middle_ms > LONGEST_MS:
        return failed(f"Responses take {middle_ms:.0f} ms.", *answered)
    return passed(f"Responses take {middle_ms:.0f} ms.", answered[0])
