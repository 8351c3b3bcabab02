"""F-opcodes: messages that are no queries."""

import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.resolver._probes import hasty, plain_query, rcode_text
from dnsrig.verification.asker import random_label
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import CraftedMessage, Query
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

UNASSIGNED = dns.opcode.Opcode.make(15)
OPCODES = (dns.opcode.NOTIFY, dns.opcode.STATUS, UNASSIGNED)
ITEM = Item(
    id="F-opcodes",
    role="resolver",
    group="Robustness",
    requirement="NOTIFY, UPDATE and messages of other opcodes are not taken for queries, and change nothing.",
    references=("RFC 8906 section 3.1.4", "RFC 2136 section 3.3", "RFC 1996 section 3.10"),
    severity=Severity.WARNING,
    consequence=(
        "Hosts that register their names take an update for done that nobody made, and new opcodes get a query's "
        "answer."
    ),
    procedure=(
        "A NOTIFY, an UPDATE that deletes what is not there, a message of opcode STATUS and one of opcode 15 are sent. "
        "Each gets no response, or one with its opcode and without answer; that to UPDATE and to opcode 15 is an "
        "error. The resolver answers queries afterwards."
    ),
    dig=("dig @{server} -p {port} www.control.unsigned. A +noedns +opcode=notify",),
    needs=("names",),
    faults=("answers-any-opcode", "accepts-updates", "forgets-opcode"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Send one of each, and then a query."""
    queries = [plain_query(subject, opcode=opcode) for opcode in OPCODES]
    queries.append(_update(queries[0].name))
    asker = hasty(subject)
    with thread_pool(len(queries), "opcode") as pool:
        exchanges = list(pool.map(asker.udp, queries))
    for exchange in exchanges:
        if said := _complaint(exchange):
            return failed(f"A message of opcode {dns.opcode.to_text(exchange.query.opcode)} {said}.", exchange)
    if silence := subject.silence():
        return failed(f"After messages of other opcodes the simplest query is not answered: {silence}.", *exchanges)
    answered = [exchange for exchange in exchanges if exchange.message is not None]
    codes = ", ".join(f"{dns.opcode.to_text(exchange.query.opcode)} {rcode_text(exchange)}" for exchange in exchanges)
    return passed(f"None is taken for a query: {codes}.", *answered[:1])


def _update(name: dns.name.Name) -> Query:
    """Delete an RRset of a name that does not exist (RFC 2136 section 2.5.2), in the zone above a name."""
    zone = name if name == dns.name.root else name.parent()
    header = dns.opcode.to_flags(dns.opcode.UPDATE).to_bytes(2) + b"\0\1\0\0\0\1\0\0"
    absent = dns.name.Name((random_label().encode(), *zone.labels)).to_wire() or b""
    deletion = absent + RdataType.TXT.to_bytes(2) + dns.rdataclass.ANY.to_bytes(2) + bytes(6)
    after_id = header + (zone.to_wire() or b"") + b"\0\6\0\1" + deletion
    return CraftedMessage(name=zone, rtype=RdataType.SOA, opcode=dns.opcode.UPDATE, payload=None, after_id=after_id)


def _complaint(exchange: Exchange) -> str:
    message, opcode = exchange.message, exchange.query.opcode
    if message is None:
        return ""
    if message.opcode() != opcode:
        return f"gets a response of opcode {dns.opcode.to_text(message.opcode())}"
    if exchange.rcode != dns.rcode.NOERROR:
        return ""
    if opcode in {dns.opcode.UPDATE, UNASSIGNED}:
        return "gets NOERROR, as if it had been done"
    return "gets a query's answer" if message.answer else ""
