"""A-unknown-opcode: opcodes that the server does not know."""

import dns.flags
import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import CraftedMessage
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
        "The header alone is sent, with opcode 15; the response has opcode 15, NOTIMP and no records. FORMERR is "
        "not: the server cannot know the form of what it does not know."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +opcode=15 +header-only",),
    needs=("zone",),
    faults=("drops-opcodes", "answers-any-opcode", "formerr-to-opcodes", "forgets-opcode"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send the header alone with opcode 15, as RFC 8906 has it: the rest may have any form."""
    flags = dns.opcode.to_flags(UNASSIGNED)
    exchange = subject.asker.udp(
        CraftedMessage(
            name=subject.origin,
            rtype=RdataType.SOA,
            opcode=UNASSIGNED,
            payload=None,
            after_id=flags.to_bytes(2) + bytes(8),
        )
    )
    wrong = wrong_rcode(subject, exchange, dns.rcode.NOTIMP)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.opcode() != UNASSIGNED:
        return failed(f"The response has opcode {exchange.message.opcode()}, not {UNASSIGNED}.", exchange)
    if exchange.has_flag(dns.flags.AA) or (exchange.message is not None and exchange.message.answer):
        return failed("The response has AA or records beside NOTIMP.", exchange)
    return passed("NOTIMP with the same opcode.", exchange)
