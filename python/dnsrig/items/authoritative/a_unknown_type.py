"""A-unknown-type: types that the server does not know."""

import dns.rcode

from dnsrig.items.authoritative._with_do import by_tcp, takes_do
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import UNUSED_TYPE
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-unknown-type",
    role="authoritative",
    group="RFC 8906",
    requirement="A query for a type that the server does not know gets NOERROR without answer.",
    references=("RFC 8906 section 8.1.2", "RFC 3597 section 2"),
    severity=Severity.ERROR,
    consequence="New types, as HTTPS and SVCB once were, cannot be used: clients wait, or take the name for broken.",
    procedure=(
        "TYPE65280 is asked for at the apex, without EDNS, and with DO by UDP and TCP where the SOA record and a "
        "denial come so; the response is NOERROR with an empty answer section."
    ),
    dig=(
        "dig @{server} -p {port} {zone} TYPE65280 +norec +noedns",
        "dig @{server} -p {port} {zone} TYPE65280 +norec +dnssec",
        "dig @{server} -p {port} {zone} TYPE65280 +norec +dnssec +tcp",
    ),
    needs=("zone",),
    faults=(
        "drops-unknown-types",
        "notimp-to-unknown-types",
        "cname-at-apex",
        "nxdomain-for-nodata",
        "drops-unknown-types-with-edns",
        "drops-unknown-types-with-edns-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a type of the range for private use, without EDNS, and with DO by both transports."""
    plain = subject.asker.udp(Query(name=subject.origin, rtype=UNUSED_TYPE, payload=None))
    exchanges = [plain]
    with_do = Query(name=subject.origin, rtype=UNUSED_TYPE, do=True)
    if takes_do(subject):
        exchanges.append(subject.asker.udp(with_do))
    for exchange in exchanges:
        # A denial with its proof may be truncated; without EDNS none is so long.
        if not (exchange.query.do and exchange.is_truncated) and (wrong := _wrong(subject, exchange)) is not None:
            return wrong
    found = by_tcp(subject, [with_do])
    if isinstance(found, Outcome):
        return found
    wrong = next((said for one in found if (said := _wrong(subject, one)) is not None), None)
    return wrong or passed("NOERROR without answer.", plain)


def _wrong(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    if exchange.message is None:
        return subject.unanswered(exchange)
    said = f"The response{' with DO' if exchange.query.do else ''} by {exchange.transport.upper()}"
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(f"{said} has the code {dns.rcode.to_text(exchange.message.rcode())}.", exchange)
    if exchange.message.answer:
        return failed(f"{said} has an answer, though the zone has no such record.", exchange)
    return None
