"""P-opcode: opcodes."""

import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-opcode",
    role="proxy",
    group="Response codes",
    requirement="Queries of an opcode that the proxy does not know are passed on or refused, not dropped.",
    references=("RFC 5625 section 4.1", "RFC 8906 section 3.1.4"),
    severity=Severity.NOTICE,
    consequence="Clients wait for responses that do not come, such as those that send dynamic updates.",
    procedure="A query with opcode 15, which is not assigned, is sent.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +opcode=15 +noedns",),
    needs=("upstream",),
    faults=("drops-opcodes",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, opcode=dns.opcode.Opcode(15), payload=None)
    through = subject.ask(query)
    if through.client.message is None:
        return subject.unanswered(through)
    rcode = dns.rcode.to_text(through.client.rcode or dns.rcode.NOERROR)
    whose = "the upstream's" if through.forwarded else "the proxy's own"
    return passed(f"The response is {rcode}, {whose}.", through.client)
