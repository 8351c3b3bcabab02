"""P-edns-flags: unknown EDNS flags."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

UNKNOWN_EDNS_FLAG = 0x0040

ITEM = Item(
    id="P-edns-flags",
    role="proxy",
    group="EDNS and flags",
    requirement="EDNS flags that the proxy does not know pass it.",
    references=("RFC 5625 section 4.1", "RFC 6891 section 6.1.4", "JPRS-2010 case 7 item 1"),
    severity=Severity.WARNING,
    consequence="New flags, as DO once was, cannot be used behind the proxy.",
    procedure="A query has EDNS flag 0x0040.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +ednsflags=0x40",),
    needs=("edns",),
    faults=("proxy-clears-edns-flags",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, edns_flags=UNKNOWN_EDNS_FLAG)
    through = compare(subject, query, of_query=_flag_differences)
    if isinstance(through, Outcome):
        return through
    return passed(
        "The query comes to the upstream with the unknown flag.", through.client, *at_upstream(through.upstream)
    )


def _flag_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Compare this flag alone: DO is the matter of P-1."""
    if came_out.ednsflags & UNKNOWN_EDNS_FLAG:
        return []
    return [f"the EDNS flag {UNKNOWN_EDNS_FLAG:#06x} is cleared"] if went_in.edns >= 0 else []
