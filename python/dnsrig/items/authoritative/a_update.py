"""A-update: UPDATE from strangers."""

import dns.opcode
import dns.rcode
import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import LIMITED, rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.queries import CraftedMessage
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-update",
    role="authoritative",
    group="Robustness",
    requirement="An UPDATE from a stranger is refused.",
    references=("RFC 2136 section 3.3", "RFC 3007 section 3"),
    severity=Severity.CRITICAL,
    consequence="Anyone can change the zone.",
    procedure=(
        "An UPDATE without signature is sent that deletes a name which does not exist, so that nothing changes; "
        "the response is an error."
    ),
    dig=("# nsupdate: server {server} {port}; zone {zone}; update delete absent.{zone} TXT; send",),
    needs=("zone",),
    faults=("accepts-updates", "answers-any-opcode"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send an update that changes nothing where it is accepted."""
    origin = subject.origin.to_wire() or b""
    absent = subject.absent_name().to_wire() or b""
    header = dns.opcode.to_flags(dns.opcode.UPDATE).to_bytes(2) + b"\0\1\0\0\0\1\0\0"
    # RFC 2136 section 2.5.2: class ANY, TTL 0 and no data delete an RRset.
    deletion = absent + RdataType.TXT.to_bytes(2) + dns.rdataclass.ANY.to_bytes(2) + bytes(6)
    update = CraftedMessage(
        name=subject.origin,
        rtype=RdataType.SOA,
        opcode=dns.opcode.UPDATE,
        payload=None,
        after_id=header + origin + b"\0\6\0\1" + deletion,
    )
    exchange = subject.asker.udp(update)
    if exchange.is_truncated and exchange.rcode == dns.rcode.NOERROR:
        # A limiter gives this to whatever comes, some with the update's own records; by TCP the server itself is heard.
        exchange = subject.asker.tcp(update)
        if exchange.message is None or exchange.is_truncated:
            return inconclusive(LIMITED, exchange)
    if exchange.response is None and not subject.silence():
        return passed("It is ignored, while queries are answered.", exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode == dns.rcode.NOERROR:
        return failed("The response is NOERROR: the server takes updates from anyone.", exchange)
    return passed(f"The response code is {rcode_text(exchange)}.", exchange)
