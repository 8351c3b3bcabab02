"""A-small-payload: payload sizes below 512."""

from dnsrig.items.authoritative._probes import soa_query, without_opt, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

PAYLOADS = (0, 256, 511)
ITEM = Item(
    id="A-small-payload",
    role="authoritative",
    group="EDNS and size",
    requirement="A query that offers a payload size below 512 is answered like one that offers 512.",
    references=("RFC 6891 section 6.2.3",),
    severity=Severity.WARNING,
    consequence="Clients whose EDNS is set up that way, or whose size was changed on the way, get errors or nothing.",
    procedure=(
        "The SOA record is asked for with payload sizes of 0, 256 and 511; the responses are NOERROR with the record."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +bufsize=256 +nocookie",),
    needs=("zone", "edns"),
    faults=("formerr-to-small-payloads",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with each size."""
    exchanges = []
    for payload in PAYLOADS:
        exchange = subject.asker.udp(soa_query(subject, payload=payload))
        wrong = wrong_soa(subject, exchange) or without_opt(exchange)
        if wrong is not None:
            return wrong
        exchanges.append(exchange)
    return passed("NOERROR with the SOA record for each.", *exchanges[:1])
