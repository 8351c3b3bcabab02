"""A-85: large responses by UDP with EDNS."""

from collections.abc import Iterator
from dataclasses import replace

import dns.name
import dns.rcode
import dns.rdata
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import denied_name
from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.items.authoritative._sizes import largest_known, limits_rate, nothing_larger
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed, passed_by_tcp

SMALL = 512
LEAST_LIMIT = 1220
"""Octets by UDP that a server of signed zones can give at least (RFC 4035 section 3)."""
MIDDLING_DATA = (450, 800)
"""Octets of data that make a response between those, with a signature and names."""
ITEM = Item(
    id="A-85",
    role="authoritative",
    group="EDNS and size",
    requirement="The server gives responses beyond 512 octets by UDP to clients that can take them.",
    references=("RFC 6891 section 6.2.5", "RFC 4035 section 3", "RFC 3226 section 3", "JPRS-2010 A-85"),
    severity=Severity.ERROR,
    consequence="Validators must fetch keys by TCP for every name, or cannot where TCP is blocked, and fail.",
    procedure=(
        "The zone's DNSKEY RRset is asked for with DO and a UDP payload size of 4096: the response has DNSKEY and "
        "RRSIG records, and an OPT record. It may have TC if the server has a limit of its own, which is no lower than "
        "1220 octets; the records come by TCP then. The same with a payload size of 512 has TC if the answer does not "
        "fit, and the records come by TCP. Where the keys are too short for that, a larger RRset, or what has the "
        "largest response that is known, is asked for as well. In a zone that is not signed the response has neither, "
        "and an OPT record."
    ),
    dig=(
        "dig @{server} -p {port} {zone} DNSKEY +norec +dnssec +bufsize=4096 +ignore",
        "dig @{server} -p {port} {zone} DNSKEY +norec +dnssec +bufsize=512 +ignore",
    ),
    needs=("zone",),
    faults=(
        "strips-opt",
        "strips-rrsig",
        "ignores-edns",
        "drops-edns",
        "formerr-to-edns",
        "clears-do",
        "cuts-without-tc",
        "drops-large",
        "clears-tc",
        "cuts-ragged",
        "cuts-tcp",
        "drops-do",
        "drops-large-by-tcp",
        "drops-tcp",
        "wrong-id-by-tcp",
        "no-tcp",
        "ignores-payload-size",
        "sets-tc",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the keys with a large and a small payload size."""
    query = Query(name=subject.origin, rtype=RdataType.DNSKEY, do=True, payload=LARGE_PAYLOAD)
    large = subject.asker.udp(query)
    if large.message is None:
        return subject.unanswered(large)
    if large.message.edns < 0:
        return failed("The response has no OPT record, though the query had one.", large)
    if not subject.is_signed:
        if large.message.answer:
            return inconclusive("The zone has records at its apex that were not there a moment ago.", large)
        return passed("The response has an OPT record; the zone is not signed, so it is small.", large)
    if large.is_truncated:
        return _smaller(subject, large)
    for rtype, covers in ((RdataType.DNSKEY, RdataType.NONE), (RdataType.RRSIG, RdataType.DNSKEY)):
        if rrset_of(large, "answer", subject.origin, rtype, covers) is None:
            return failed(f"The response lacks the {rtype.name} records.", large)
    if large.octets > SMALL:
        return _by_tcp_if_truncated(subject, large)
    # Few and short keys: another RRset has to show it.
    place = subject.landmarks.larger_than(SMALL)
    if place is None:
        return _by_largest(subject)
    large = subject.asker.udp(Query(name=place.name, rtype=place.rtype, do=True, payload=LARGE_PAYLOAD))
    if large.message is None:
        return subject.unanswered(large)
    if large.is_truncated:
        return _smaller(subject, large)
    if large.octets <= SMALL:
        code = "" if large.rcode == dns.rcode.NOERROR else f", and the response code {rcode_text(large)}"
        return failed(f"A response of more than {SMALL} octets has {large.octets} by UDP, and no TC{code}.", large)
    return _by_tcp_if_truncated(subject, large)


def _by_largest(subject: AuthoritativeSubject) -> Outcome:
    """Judge by the largest response that is known, such as the denial of a name, in zones with few and short keys."""
    largest = largest_known(subject)
    if largest is None or largest.octets <= SMALL:
        return nothing_larger(subject, SMALL)
    by_udp = subject.asker.udp(replace(largest.query, payload=LARGE_PAYLOAD))
    if by_udp.message is None:
        return subject.unanswered(by_udp)
    if not by_udp.is_truncated:
        if by_udp.octets <= SMALL:
            return nothing_larger(subject, SMALL)
        return passed(f"A response of {by_udp.octets} octets, the largest that is known, came by UDP.", by_udp)
    whole = subject.asker.tcp(by_udp.query)
    if whole.message is None:
        return subject.unanswered(whole)
    if whole.octets > LEAST_LIMIT:
        return passed_by_tcp(f"A response of {whole.octets} octets came by TCP.", by_udp, whole)
    reason = f"A response is truncated by UDP, though it has only {whole.octets} octets."
    return limits_rate(subject, by_udp) or failed(reason, by_udp, whole)


def _smaller(subject: AuthoritativeSubject, large: Exchange) -> Outcome:
    """Judge a truncated response: servers may have a limit of their own, but not below 1220 octets (RFC 4035)."""
    by_tcp = subject.asker.tcp(large.query)
    if by_tcp.message is None:
        return subject.unanswered(by_tcp)
    if by_tcp.is_truncated or rrset_of(by_tcp, "answer", large.query.name, large.query.rtype) is None:
        return failed("The response is truncated by UDP, and the records do not come by TCP either.", large, by_tcp)
    if by_tcp.octets <= LEAST_LIMIT:
        reason = f"The response is truncated by UDP, though it has only {by_tcp.octets} octets."
        return limits_rate(subject, large) or failed(reason, large, by_tcp)
    for query in _middling(subject):
        by_udp = subject.asker.udp(query)
        if by_udp.message is None:
            return subject.unanswered(by_udp)
        whole = subject.asker.tcp(query) if by_udp.is_truncated else by_udp
        if not SMALL < whole.octets <= LEAST_LIMIT:
            continue
        if by_udp.is_truncated:
            reason = f"A response is truncated by UDP, though it has only {whole.octets} octets."
            return limits_rate(subject, by_udp) or failed(reason, by_udp, whole)
        reason = f"By UDP came {whole.octets} octets; {by_tcp.octets} exceed the server's own limit and come by TCP."
        return passed_by_tcp(reason, by_udp, large, by_tcp)
    reason = f"The response of {by_tcp.octets} octets exceeds the server's own limit and comes by TCP."
    return passed_by_tcp(reason, large, by_tcp)


def _middling(subject: AuthoritativeSubject) -> Iterator[Query]:
    """Give questions whose responses may have between 512 and 1220 octets."""
    places = [place for place in subject.landmarks.large if MIDDLING_DATA[0] <= place.octets <= MIDDLING_DATA[1]]
    questions = [(place.name, place.rtype) for place in places[-2:]]
    questions += [(denied_name(subject), RdataType.A), (subject.origin, RdataType.SOA)]
    for name, rtype in questions:
        yield Query(name=name, rtype=rtype, do=True, payload=LARGE_PAYLOAD)


def _by_tcp_if_truncated(subject: AuthoritativeSubject, large: Exchange) -> Outcome:
    """Ask the same as a client that takes 512 octets, and by TCP."""
    query = replace(large.query, payload=SMALL)
    small = subject.asker.udp(query)
    if small.message is None:
        return subject.unanswered(small)
    if not small.is_truncated and small.octets <= SMALL and _records(small) >= _records(large):
        # What was left out, such as the names of the zone's servers, need not be there (RFC 2181 section 9).
        return passed(f"{large.octets} octets came by UDP; with {SMALL}, the whole answer fits.", large, small)
    if not small.is_truncated:
        return failed(
            f"The response with {small.octets} octets to a client that takes {SMALL} has no TC.", large, small
        )
    by_tcp = subject.asker.tcp(query)
    if by_tcp.message is None:
        return subject.unanswered(by_tcp)
    if rrset_of(by_tcp, "answer", query.name, query.rtype) is None:
        return failed("The records do not come by TCP either.", large, small, by_tcp)
    return passed(f"{large.octets} octets came by UDP; with {SMALL}, TC and the records by TCP.", large, small)


def _records(exchange: Exchange) -> set[tuple[dns.name.Name, int, dns.rdata.Rdata]]:
    """List the records of the answer section."""
    answer = [] if exchange.message is None else exchange.message.answer
    return {(rrset.name, rrset.rdtype, record) for rrset in answer for record in rrset}
