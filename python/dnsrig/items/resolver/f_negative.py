"""F-negative: the SOA record in negative responses."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._usual import PROCEDURE, check_usual
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-negative",
    role="resolver",
    group="Messages",
    requirement="Negative responses have the zone's SOA record, also those from the cache.",
    references=("RFC 2308 section 6", "RFC 2308 section 5"),
    severity=Severity.WARNING,
    consequence="Stubs and forwarders cannot cache denials, and ask for what does not exist again and again.",
    procedure=PROCEDURE
    + (
        "Each response without answer, NOERROR or NXDOMAIN, has an SOA record in its authority section, of a zone "
        "that has the name."
    ),
    dig=("dig @{server} -p {port} absent.control.nsec. A +noedns",),
    needs=("names",),
    faults=("denies-without-soa",),
)
DENYING = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}


def check(subject: ResolverSubject) -> Outcome:
    """Look at the authority section of each usual response without answer."""
    return check_usual(subject, _complaint, "each has the zone's SOA record", of=_is_negative)


def _is_negative(exchange: Exchange) -> bool:
    message = exchange.message
    if message is None or message.answer or message.rcode() not in DENYING or exchange.is_truncated:
        return False
    # Whether large responses by UDP are whole is the matter of F-85.
    return exchange.transport == "tcp" or exchange.query.payload is None


def _complaint(exchange: Exchange) -> str:
    section = [] if exchange.message is None else exchange.message.authority
    soas = [rrset for rrset in section if rrset.rdtype == RdataType.SOA]
    if not soas:
        return "the authority section has no SOA record"
    if not any(exchange.query.name.is_subdomain(soa.name) for soa in soas):
        return f"the SOA record is of {soas[0].name}, which has not the name"
    return ""
