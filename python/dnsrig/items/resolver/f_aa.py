"""F-aa: no authoritative answers of a resolver."""

import dns.flags

from dnsrig.items.resolver._usual import PROCEDURE, check_usual
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-aa",
    role="resolver",
    group="Messages",
    requirement="Responses with data of zones that the resolver does not serve are without AA.",
    references=("RFC 1035 section 4.1.1", "RFC 1034 section 4.3.1"),
    severity=Severity.WARNING,
    consequence=(
        "Other resolvers and checks of delegations take it for a server of the zone, so that a wrong delegation to "
        "it goes unnoticed and old data pass for the zone's."
    ),
    procedure=PROCEDURE + "No response has AA.",
    dig=("dig @{server} -p {port} www.control.nsec. A",),
    needs=("names",),
    faults=("claims-authority",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at AA in each usual response."""
    return check_usual(subject, _complaint, "none has AA", of=lambda _: True)


def _complaint(exchange: Exchange) -> str:
    return "the response has AA" if exchange.has_flag(dns.flags.AA) else ""
