"""A-plain: plain DNS."""

from dataclasses import replace

import dns.rcode

from dnsrig.items.authoritative._probes import edns_soa_query, soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-plain",
    role="authoritative",
    group="RFC 8906",
    requirement="The server answers a plain query by UDP for the zone's SOA record with the record.",
    references=("RFC 8906 section 8.1.1", "RFC 1034 section 4.3.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "The server is lame for the zone, or silent: resolvers lose time with it, and with the zone if others are "
        "alike."
    ),
    procedure=(
        "The SOA record is asked for by UDP without EDNS and without RD; the response is NOERROR with the record. "
        "Where there is none, it is asked for ten times more, in turn with queries with EDNS: messages may be lost."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +ignore",),
    faults=("lame", "lame-upward", "drops-plain", "answers-from-other-port"),
)
UNSERVED = frozenset({dns.rcode.NXDOMAIN, dns.rcode.REFUSED, dns.rcode.NOTAUTH})
"""What servers say of zones that they do not serve, as when a name is mistyped."""


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask as plainly as can be; where that is not answered, see whether anything else is."""
    exchange = subject.asker.udp(soa_query(subject))
    if exchange.response is not None:
        wrong = wrong_soa(subject, exchange)
        if wrong is not None and exchange.rcode in UNSERVED and not subject.is_primary:
            return replace(wrong, reason=f"{wrong.reason.rstrip('.')}; is {subject.origin} the name of a zone there?")
        return wrong or passed("NOERROR with the SOA record.", exchange)
    with_edns = subject.asker.udp(edns_soa_query(subject))
    by_tcp = subject.asker.tcp(soa_query(subject))
    if with_edns.response is None and by_tcp.response is None:
        return inconclusive("The server does not answer at all; it may be down, or out of reach.", exchange)
    again = subject.asked_again(soa_query(subject), edns_soa_query(subject))
    if again.answered:
        reason = f"Asked {again.tries} times more, the server answers {again.answered}: messages are lost."
        return inconclusive(reason, exchange)
    if with_edns.response is None:
        return failed("Plain queries by UDP are not answered, those by TCP are.", exchange, by_tcp)
    if again.is_doubtful:
        return inconclusive("Queries by UDP are unanswered now and then, with EDNS too.", exchange, with_edns)
    return failed("Plain queries by UDP are not answered, those with EDNS are.", exchange, with_edns)
