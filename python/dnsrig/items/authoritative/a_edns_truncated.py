"""A-edns-truncated: OPT in truncated responses."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import without_opt, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

SMALLEST_PAYLOAD = 512
ITEM = Item(
    id="A-edns-truncated",
    role="authoritative",
    group="RFC 8906",
    requirement="A response to a query with EDNS has an OPT record also where it is truncated.",
    references=("RFC 8906 section 8.2.7", "RFC 6891 section 7"),
    severity=Severity.WARNING,
    consequence="Resolvers take the server for one without EDNS, and ask for large data without DNSSEC, or in vain.",
    procedure=(
        "An RRset whose response exceeds 512 octets is asked for with a payload size of 512; the response has TC "
        "and OPT."
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
    if place is None and not subject.is_signed:
        return not_applicable("No RRset of the zone is known to exceed 512 octets.")
    name, rtype = (subject.origin, RdataType.DNSKEY) if place is None else (place.name, place.rtype)
    exchange = subject.asker.udp(Query(name=name, rtype=rtype, do=True, payload=SMALLEST_PAYLOAD))
    wrong = wrong_rcode(subject, exchange) or without_opt(exchange)
    if wrong is not None:
        return wrong
    if exchange.is_truncated:
        return passed("The response has TC and OPT.", exchange)
    if place is None:
        return not_applicable(f"The largest known response has only {exchange.octets} octets.", exchange)
    return failed(f"The response has {exchange.octets} octets and no TC; the RRset has {place.octets}.", exchange)
