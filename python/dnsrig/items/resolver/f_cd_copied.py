"""F-cd-copied: CD in responses."""

from dataclasses import replace

import dns.flags

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-cd-copied",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver copies CD from the query to the response.",
    references=("RFC 4035 section 3.2.2",),
    severity=Severity.WARNING,
    consequence="Forwarders behind it cannot tell whether data were validated, and cache them as if they were.",
    procedure=(
        "A secure name is asked for with RD and DO, with CD and without: the response has CD as the query had it."
    ),
    dig=("dig @{server} -p {port} www.control.nsec. A +dnssec +cd",),
    needs=("dnssec",),
    faults=("clears-cd",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with CD and without."""
    exchanges = []
    for cd in (True, False):
        exchange = subject.asker.ask(replace(subject.names.secure.with_do, cd=cd))
        if exchange.message is None:
            return subject.unanswered(exchange)
        if exchange.has_flag(dns.flags.CD) != cd:
            said = "has no CD, though the query had it" if cd else "has CD, though the query had none"
            return failed(f"The response {said}.", exchange)
        exchanges.append(exchange)
    return passed("CD came back as it was asked.", *exchanges)
