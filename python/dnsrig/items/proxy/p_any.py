"""P-any: type ANY."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-any",
    role="proxy",
    group="Records",
    requirement="Queries of type ANY have a response, be it a short one or a refusal.",
    references=("RFC 8482 section 4", "RFC 5625 section 4.1"),
    severity=Severity.NOTICE,
    consequence="Clients that ask for ANY, old mail servers among them, wait until they give up.",
    procedure="Type ANY is asked for; any response will do.",
    dig=("dig @{server} -p {port} x.plain.rig.example ANY +notcp",),
    needs=("upstream",),
    faults=("proxy-drops-any",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and take any response."""
    through = subject.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.ANY, rd=True, payload=None))
    if through.client.message is None:
        return subject.unanswered(through)
    rcode = dns.rcode.to_text(through.client.rcode or dns.rcode.NOERROR)
    return passed(f"The response is {rcode}{' with TC' if through.client.is_truncated else ''}.", through.client)
