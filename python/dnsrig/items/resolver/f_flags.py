"""F-flags: RA, RD and TC in responses."""

import dns.flags

from dnsrig.items.resolver._usual import PROCEDURE, UNREAD, check_usual
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-flags",
    role="resolver",
    group="Messages",
    requirement="Responses to queries with RD have RA and RD, and those by TCP no TC.",
    references=("RFC 1035 section 4.1.1", "RFC 1034 section 4.3.1", "RFC 7766 section 5"),
    severity=Severity.ERROR,
    consequence=(
        "Forwarders and stubs take the resolver for one without recursion, and ask another or give up; with TC by TCP "
        "they have nowhere to go on."
    ),
    procedure=PROCEDURE + "Each response has RA, and RD as the query; by TCP it has no TC.",
    dig=("dig @{server} -p {port} www.control.nsec. A   # dig says 'recursion requested but not available'",),
    needs=("names",),
    faults=("denies-recursion", "forgets-recursion-desired", "truncates-by-tcp"),
)
WANTED = ((dns.flags.RA, "RA"), (dns.flags.RD, "RD"))


def check(subject: ResolverSubject) -> Outcome:
    """Look at the flags of each usual response."""
    return check_usual(
        subject, _complaint, "each has RA and RD, and by TCP no TC", of=lambda one: one.rcode not in UNREAD
    )


def _complaint(exchange: Exchange) -> str:
    lacking = [word for flag, word in WANTED if not exchange.has_flag(flag)]
    if exchange.transport == "tcp" and exchange.has_flag(dns.flags.TC):
        return "the response has TC, though it came by TCP"
    return f"the response has no {' and no '.join(lacking)}" if lacking else ""
