"""A-axfr: zone transfer to strangers."""

import dns.exception
import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.items.authoritative._probes import ixfr_query, rcode_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.transcript import transcript
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

ITEM = Item(
    id="A-axfr",
    role="authoritative",
    group="Robustness",
    requirement="The zone is transferred only to those it is meant for.",
    references=("RFC 5936 section 5", "RFC 1995 section 4"),
    severity=Severity.NOTICE,
    consequence=(
        "Anyone can list the zone's names, and have large answers sent; where the zone is public all the same, "
        "that is no harm."
    ),
    procedure=(
        "The zone is asked for by AXFR without signature; the first message of the response has no SOA record. By "
        "IXFR, as a client with an old version, it is asked for too: the first message has no more than the SOA record."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR +noedns", "dig @{server} -p {port} {zone} IXFR=0 +noedns"),
    needs=("zone",),
    faults=("allows-axfr", "allows-ixfr"),
)
SOAS_ALONE = 2
"""So many SOA records may be in an answer without being a transfer: A-repeated is about the second."""
SERIALS = 1 << 32
RECORDS_SHOWN = 3


def _head_of(exchange: Exchange) -> Evidence:
    """Show that there is a transfer, not the zone."""
    return Evidence(exchange.title, transcript(exchange, RECORDS_SHOWN))


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a transfer; its first message tells."""
    exchange = subject.asker.tcp(Query(name=subject.origin, rtype=RdataType.AXFR, payload=None))
    if exchange.response is None and not subject.silence():
        return passed(f"There is no transfer: {exchange.silence}.", exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.message.answer:
        return failed("The server transfers the zone to this host.", _head_of(exchange))
    incremental = subject.asker.tcp(ixfr_query(subject, _old_serial(subject)))
    if _is_transfer(incremental):
        return failed("The server transfers the zone to this host by IXFR.", _head_of(incremental))
    return passed(f"The response code is {rcode_text(exchange)}.", exchange)


def _old_serial(subject: AuthoritativeSubject) -> int:
    """Give the serial of a version before the zone's (RFC 1982): 0, where that is one."""
    soa = zone_soa(subject)
    serial = 1 if soa is None else int(soa[0].serial)
    return 0 if 0 < serial < SERIALS // 2 else (serial - SERIALS // 4) % SERIALS


def _is_transfer(exchange: Exchange) -> bool:
    """Whether the first message has more than a SOA record, which alone says that there is nothing to be had by it."""
    try:
        message = dns.message.from_wire(exchange.response or b"", one_rr_per_rrset=True)
    except (dns.exception.DNSException, ValueError):
        return False
    types = [rrset.rdtype for rrset in message.answer if rrset.rdtype != RdataType.RRSIG]
    return RdataType.SOA in types and (len(types) > SOAS_ALONE or set(types) != {RdataType.SOA})
