"""A-edns-truncated: OPT in truncated responses."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import of_another_code, without_opt, wrong_rcode
from dnsrig.items.authoritative._sizes import largest_known, limits_rate, nothing_larger
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

SMALLEST_PAYLOAD = 512
ITEM = Item(
    id="A-edns-truncated",
    role="authoritative",
    group="RFC 8906",
    requirement="A response to a query with EDNS has an OPT record also where it is truncated.",
    references=("RFC 8906 section 8.2.7", "RFC 6891 section 7", "RFC 4035 section 3.1.1"),
    severity=Severity.WARNING,
    consequence="Resolvers take the server for one without EDNS, and ask for large data without DNSSEC, or in vain.",
    procedure=(
        "An RRset whose response exceeds 512 octets is asked for with a payload size of 512; the response has TC "
        "and OPT. SERVFAIL instead is a failure where the response comes by TCP."
    ),
    dig=("dig @{server} -p {port} {large} +norec +dnssec +bufsize=512 +nocookie +ignore",),
    needs=("zone", "edns"),
    faults=(
        "strips-opt-when-truncated",
        "ignores-payload-size",
        "clears-tc",
        "cuts-ragged",
        "drops-do",
        "cuts-without-tc",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the largest RRset with the smallest payload size."""
    place = subject.landmarks.larger_than(SMALLEST_PAYLOAD)
    wanted = dns.rcode.NOERROR
    if place is not None:
        name, rtype = place.name, place.rtype
    else:
        largest = largest_known(subject)
        if largest is None or largest.octets <= SMALLEST_PAYLOAD:
            return nothing_larger(subject, SMALLEST_PAYLOAD)
        name, rtype = largest.query.name, RdataType.make(largest.query.rtype)
        # The largest response may be a denial.
        wanted = largest.rcode or wanted
    exchange = subject.asker.udp(Query(name=name, rtype=rtype, do=True, payload=SMALLEST_PAYLOAD))
    if exchange.rcode == dns.rcode.SERVFAIL != wanted:
        return _judged_servfail(subject, exchange, wanted)
    wrong = wrong_rcode(subject, exchange, wanted) or without_opt(exchange)
    if wrong is not None:
        if exchange.message is None or not exchange.is_truncated:
            return wrong
        # A limit of the rate of responses sets TC too, and NOERROR whatever the code would be.
        is_other = exchange.rcode != wanted
        return limits_rate(subject, exchange) or (of_another_code(exchange, wanted) if is_other else wrong)
    if exchange.is_truncated:
        return passed("The response has TC and OPT.", exchange)
    if place is None:
        return nothing_larger(subject, SMALLEST_PAYLOAD)
    return failed(f"The response has {exchange.octets} octets and no TC; the RRset has {place.octets}.", exchange)


def _judged_servfail(subject: AuthoritativeSubject, exchange: Exchange, wanted: dns.rcode.Rcode) -> Outcome:
    """Judge an error that comes each time: by the size it is where the same question is answered by TCP."""
    again, by_tcp = subject.asker.udp(exchange.query), subject.asker.tcp(exchange.query)
    said = f"The response to {exchange.title} is SERVFAIL where {SMALLEST_PAYLOAD} octets are offered"
    if again.rcode != dns.rcode.SERVFAIL:
        return inconclusive(f"{said}; asked again it is not.", exchange, again)
    if by_tcp.rcode != wanted:
        # A-dnssec-answers is about errors.
        return inconclusive(f"{said}, and none of use comes by TCP.", exchange, by_tcp)
    return failed(f"{said}, and has {by_tcp.octets} octets by TCP; it is to have TC.", exchange, by_tcp)
