"""A-axfr: zone transfer to strangers."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

ITEM = Item(
    id="A-axfr",
    role="authoritative",
    group="Robustness",
    requirement="The zone is transferred only to those it is meant for.",
    references=("RFC 5936 section 5",),
    severity=Severity.NOTICE,
    consequence=(
        "Anyone can list the zone's names, and have large answers sent; where the zone is public all the same, "
        "that is no harm."
    ),
    procedure="The zone is asked for by AXFR without signature; the first message of the response has no SOA record.",
    dig=("dig @{server} -p {port} {zone} AXFR +noedns",),
    needs=("zone",),
    faults=("allows-axfr",),
)


def _head_of(exchange: Exchange) -> Evidence:
    """Show that there is a transfer, not the zone."""
    records = 0 if exchange.message is None else sum(len(rrset) for rrset in exchange.message.answer)
    return Evidence(exchange.title, f"The first message has {records} records in {exchange.octets} octets.")


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a transfer; its first message tells."""
    exchange = subject.asker.tcp(Query(name=subject.origin, rtype=RdataType.AXFR, payload=None))
    if exchange.response is None and not subject.silence():
        return passed(f"There is no transfer: {exchange.silence}.", exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.message.answer:
        return failed("The server transfers the zone to this host.", _head_of(exchange))
    return passed(f"The response code is {rcode_text(exchange)}.", exchange)
