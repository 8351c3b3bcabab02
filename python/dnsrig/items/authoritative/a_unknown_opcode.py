"""A-unknown-opcode: opcodes that the server does not know."""

import dns.flags
import dns.opcode
import dns.rcode

from dnsrig.items.authoritative._probes import soa_query, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

UNASSIGNED = dns.opcode.Opcode.make(15)
"""The last opcode, which nobody has asked for yet."""
ITEM = Item(
    id="A-unknown-opcode",
    role="authoritative",
    group="RFC 8906",
    requirement="A message with an opcode that the server does not know gets NOTIMP, with the same opcode.",
    references=("RFC 8906 section 8.1.4", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "New opcodes, such as DSO of RFC 8490, cannot be tried without waiting for a time-out, or get a query's answer."
    ),
    procedure=(
        "A message with opcode 15 that is otherwise a query for the SOA record is sent; the response has opcode 15, "
        "NOTIMP and no records. RFC 8906 sends the header alone, which some servers drop as malformed."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +opcode=15",),
    needs=("zone",),
    faults=("drops-opcodes", "answers-any-opcode", "formerr-to-opcodes", "forgets-opcode", "other-opcode"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send a query but for its opcode."""
    exchange = subject.asker.udp(soa_query(subject, opcode=UNASSIGNED))
    wrong = wrong_rcode(subject, exchange, dns.rcode.NOTIMP)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.opcode() != UNASSIGNED:
        return failed(f"The response has opcode {exchange.message.opcode()}, not {UNASSIGNED}.", exchange)
    if exchange.has_flag(dns.flags.AA) or (exchange.message is not None and exchange.message.answer):
        return failed("The response has AA or records beside NOTIMP.", exchange)
    return passed("NOTIMP with the same opcode.", exchange)
