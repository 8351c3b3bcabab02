"""A-notify: NOTIFY from strangers."""

import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-notify",
    role="authoritative",
    group="Robustness",
    requirement="A NOTIFY from a host that is no primary of the zone is refused or ignored.",
    references=("RFC 1996 section 3.10", "RFC 1996 section 3.12"),
    severity=Severity.NOTICE,
    consequence="Strangers make the server ask its primary again and again, or get a query's answer to what is none.",
    procedure=(
        "A NOTIFY for the zone is sent; the response, if there is one, has opcode NOTIFY and no answer. NOERROR "
        "tells nothing: primaries give it and do nothing."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +opcode=notify +aaflag",),
    needs=("zone",),
    faults=("answers-any-opcode", "forgets-opcode", "other-opcode"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send a NOTIFY without new serial, which says no more than that something may have changed."""
    exchange = subject.asker.udp(soa_query(subject, opcode=dns.opcode.NOTIFY, aa=True))
    if exchange.response is None and not subject.silence():
        return passed("It is ignored, while queries are answered.", exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.message.opcode() != dns.opcode.NOTIFY:
        return failed(f"The response has opcode {dns.opcode.to_text(exchange.message.opcode())}.", exchange)
    if any(rrset.rdtype == RdataType.SOA for rrset in exchange.message.answer) and exchange.rcode == dns.rcode.NOERROR:
        return failed("The response has the SOA record, as if it were to a query.", exchange)
    if exchange.rcode == dns.rcode.NOERROR and subject.is_primary:
        return passed("The response is NOERROR; the server has the zone from a file, and no primary to ask.", exchange)
    if exchange.rcode == dns.rcode.NOERROR:
        return inconclusive(
            "The response is NOERROR; a primary gives it and does nothing, a secondary must not.", exchange
        )
    return passed(f"The response code is {rcode_text(exchange)}.", exchange)
