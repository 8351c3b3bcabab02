"""P-opcode: opcodes."""

import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

OPCODE = dns.opcode.Opcode(15)

ITEM = Item(
    id="P-opcode",
    role="proxy",
    group="Response codes",
    requirement=(
        "Queries of an opcode that the proxy does not know are passed on or refused, not dropped or taken for others."
    ),
    references=("RFC 5625 section 4.1", "RFC 8906 section 3.1.4", "RFC 1035 section 4.1.1"),
    severity=Severity.NOTICE,
    consequence="Clients wait for responses that do not come, such as those that send dynamic updates.",
    procedure=(
        "NOTIFY and UPDATE are sent, which have any response, and a query with opcode 15, which is not assigned. "
        "The response has the same opcode, says by its response code that nothing was done, such as NOTIMP, and "
        "answers nothing."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +opcode=15 +noedns",),
    needs=("upstream",),
    faults=("drops-opcodes", "drops-updates", "proxy-answers-opcodes"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    for opcode in (dns.opcode.NOTIFY, dns.opcode.UPDATE):
        # What is meant is named by its SOA record (RFC 1996 section 3.7, RFC 2136 section 2.3).
        known = subject.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.SOA, opcode=opcode, payload=None))
        if known.client.response is None:
            return subject.unanswered(known)
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, opcode=OPCODE, payload=None)
    through = subject.ask(query)
    if through.client.message is None:
        return subject.unanswered(through)
    rcode = dns.rcode.to_text(through.client.rcode or dns.rcode.NOERROR)
    whose = "the upstream's" if through.forwarded else "the proxy's own"
    opcode = through.client.message.opcode()
    if opcode != OPCODE:
        return failed(f"The response has opcode {int(opcode)} instead of the query's {int(OPCODE)}.", through.client)
    if through.client.message.answer:
        return failed(f"The response is {rcode} with an answer, to what cannot be understood.", through.client)
    if through.client.rcode == dns.rcode.NOERROR:
        return failed("The response is NOERROR, as if the opcode were known.", through.client)
    return passed(f"The response is {rcode}, {whose}.", through.client)
