"""A-truncated: truncated responses."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._sizes import largest_known, limits_rate, nothing_larger
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

LIMIT = 512
ITEM = Item(
    id="A-truncated",
    role="authoritative",
    group="EDNS and size",
    requirement="A response that does not fit has TC, can be read, and comes whole by TCP.",
    references=("RFC 2181 section 9", "RFC 1035 section 4.2.1", "RFC 7766 section 5"),
    severity=Severity.CRITICAL,
    consequence=(
        "Clients take a part for the whole, or get nothing: large RRsets cannot be resolved, or are cached incomplete."
    ),
    procedure=(
        "An RRset of more than 512 octets is asked for by UDP without EDNS; the response has TC, its records and "
        "its question can be parsed, and by TCP the response is longer, without TC. TC with what would fit is asked "
        "for again, as servers that limit their rate of responses set it too."
    ),
    dig=(
        "dig @{server} -p {port} {large} +norec +noedns +ignore",
        "dig @{server} -p {port} {large} +norec +noedns +tcp",
    ),
    needs=("zone",),
    faults=(
        "clears-tc",
        "cuts-without-tc",
        "cuts-ragged",
        "cuts-tcp",
        "drops-huge-by-tcp",
        "drops-large-by-tcp",
        "no-tcp",
        "drops-tcp",
        "wrong-id-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the largest RRset by UDP and by TCP."""
    name, rtype, is_known_large, is_denial = _large_question(subject)
    query = Query(name=name, rtype=rtype, payload=None)
    by_udp = subject.asker.udp(query)
    if by_udp.message is None:
        return subject.unanswered(by_udp)
    by_tcp = subject.asker.tcp(query)
    if by_tcp.message is None:
        return subject.unanswered(by_tcp)
    if by_tcp.is_truncated:
        return failed("The response by TCP has TC.", by_udp, by_tcp)
    if not by_udp.is_truncated:
        if by_udp.octets > LIMIT or by_tcp.message.answer == by_udp.message.answer:
            if by_udp.octets <= LIMIT:
                return nothing_larger(subject, LIMIT, do=False)
            return not_applicable(f"The response came whole by UDP, in {by_udp.octets} octets.", by_udp)
        return failed(
            f"By TCP the answer is another, in {by_tcp.octets} octets; by UDP there is no TC.", by_udp, by_tcp
        )
    has_records = is_denial or rrset_of(by_tcp, "answer", name, rtype) is not None
    if by_tcp.octets <= LIMIT and has_records and not is_known_large:
        limited = limits_rate(subject, by_udp)
        if limited is not None:
            return limited
    if by_tcp.octets <= LIMIT or not has_records:
        return failed(f"By TCP come only {by_tcp.octets} octets, which would fit by UDP.", by_udp, by_tcp)
    return passed(f"By UDP there is TC, by TCP come {by_tcp.octets} octets.", by_udp, by_tcp)


def _large_question(subject: AuthoritativeSubject) -> tuple[dns.name.Name, RdataType, bool, bool]:
    """Give what to ask for, whether its data alone are known to exceed the limit, and whether it is to be denied."""
    for place in subject.landmarks.large[:1]:
        if place.octets > LIMIT:
            return place.name, place.rtype, True, False
    largest = largest_known(subject, do=False)
    if largest is None:
        return subject.origin, RdataType.DNSKEY, False, False
    is_denial = largest.message is not None and not largest.message.answer
    return largest.query.name, RdataType.make(largest.query.rtype), False, is_denial
