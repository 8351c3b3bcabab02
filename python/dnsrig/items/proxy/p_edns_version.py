"""P-edns-version: EDNS versions."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="P-edns-version",
    role="proxy",
    group="EDNS and flags",
    requirement="A query of an EDNS version that the upstream does not know has the upstream's BADVERS as response.",
    references=("RFC 6891 section 6.1.3", "RFC 5625 section 4.4.2"),
    severity=Severity.NOTICE,
    consequence="A later version of EDNS cannot be agreed upon through the proxy.",
    procedure="A query has EDNS version 1; the upstream responds with BADVERS.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +edns=1 +noednsneg",),
    needs=("edns",),
    faults=("answers-any-edns-version",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, edns_version=1)
    through = subject.ask(query)
    if through.client.message is None:
        return subject.unanswered(through)
    if through.client.rcode != dns.rcode.BADVERS:
        return failed(
            f"The response is {dns.rcode.to_text(through.client.rcode or dns.rcode.NOERROR)}.", through.client
        )
    return passed("The response is BADVERS.", through.client)
