"""A-header-z: the reserved header bit."""

from dnsrig.items.authoritative._looked_at import wrong_response
from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.exchange import HEADER_OCTETS, Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Z_BIT
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-header-z",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with the reserved bit Z is answered like one without, and no response has the bit.",
    references=("RFC 8906 section 8.1.3.3", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "The last bit of the header cannot be put to use: clients that try get no answer, or take it for a meaning."
    ),
    procedure=(
        "The SOA record is asked for with Z=1; the response is NOERROR with the record, and has Z=0, as have answers, "
        "denials and referrals without EDNS and with DO."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +zflag",),
    needs=("zone",),
    faults=("drops-z", "formerr-to-z", "copies-z", "sets-z-with-do"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with the bit."""
    exchange = subject.asker.udp(soa_query(subject, z=True))
    wrong = wrong_soa(subject, exchange)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.flags & Z_BIT:
        return failed("The response has the reserved bit Z.", exchange)
    return wrong_response(subject, _has_z) or passed("NOERROR with the SOA record and Z=0.", exchange)


def _has_z(exchange: Exchange) -> str:
    octets = exchange.response or b""
    has_bit = len(octets) >= HEADER_OCTETS and int.from_bytes(octets[2:4]) & Z_BIT
    return "has the reserved bit Z" if has_bit else ""
