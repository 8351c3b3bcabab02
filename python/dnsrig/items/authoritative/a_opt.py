"""A-opt: the OPT record in responses."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

LEAST_PAYLOAD = 512
ITEM = Item(
    id="A-opt",
    role="authoritative",
    group="EDNS and size",
    requirement=(
        "Responses to queries without OPT have none; in others the OPT record has a payload size of at least 512, and "
        "DO only where the query has it."
    ),
    references=("RFC 6891 section 7", "RFC 6891 section 6.2.3", "RFC 3225 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Clients without EDNS take the response for malformed; others believe that the server takes no queries, or that"
        " it gives signatures unasked."
    ),
    procedure="The SOA record and a name that does not exist are asked for without EDNS, then with EDNS and DO=0.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns", "dig @{server} -p {port} {zone} SOA +norec +nodnssec"),
    needs=("zone",),
    faults=("opt-unasked", "do-unasked", "opt-payload-0"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask without and with EDNS, and look at the OPT records."""
    exchanges = []
    payloads = (None,) if subject.lacks("edns") else (None, USUAL_PAYLOAD)
    for name, rtype in ((subject.origin, RdataType.SOA), (subject.absent_name(), RdataType.A)):
        for payload in payloads:
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, payload=payload))
            if exchange.message is None:
                return inconclusive(f"There is {exchange.trouble}; A-plain and A-edns are about that.", exchange)
            wrong = _wrong_opt(exchange)
            if wrong:
                return failed(f"The response to {exchange.title} {wrong}.", exchange)
            exchanges.append(exchange)
    return passed("The OPT records are as they should be.", *exchanges[:2])


def _wrong_opt(exchange: Exchange) -> str:
    """Say what is wrong with the OPT record of a response to a query with DO=0; "" if nothing is."""
    message = exchange.message
    if message is None or message.edns < 0:
        return ""
    if exchange.query.payload is None:
        return "has an OPT record, though the query has none"
    if message.payload < LEAST_PAYLOAD:
        return f"offers a payload size of {message.payload} octets"
    return "has DO, though the query has not" if message.ednsflags & dns.flags.DO else ""
