"""A-tc: TC without need."""

import time

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

PAUSES_S = (0.0, 1.0, 1.0)
"""Waits before each try: limits are so many responses a second."""
ITEM = Item(
    id="A-tc",
    role="authoritative",
    group="EDNS and size",
    requirement="A response that fits has no TC.",
    references=("RFC 2181 section 9", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "Every client asks again by TCP: answers come late, and the server bears connections instead of datagrams."
    ),
    procedure=(
        "The SOA record is asked for by UDP without EDNS; the response has no TC. Servers that limit their rate "
        "of responses (RRL) set TC when asked too often, so it is asked for three times."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +ignore",),
    needs=("zone",),
    faults=("sets-tc",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask until one response is whole."""
    for pause_s in PAUSES_S:
        time.sleep(pause_s)
        exchange = subject.asker.udp(soa_query(subject))
        if exchange.response is None:
            return subject.unanswered(exchange)
        if not exchange.is_truncated:
            return passed("The response has no TC.", exchange)
    return failed(f"The response has TC with {exchange.octets} octets, {len(PAUSES_S)} times.", exchange)
