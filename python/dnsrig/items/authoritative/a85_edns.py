"""A-85: large responses by UDP with EDNS."""

from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

SMALL = 512
ITEM = Item(
    id="A-85",
    role="authoritative",
    group="EDNS and size",
    requirement="The server gives responses beyond 512 octets by UDP to clients that can take them.",
    references=("RFC 6891 section 6.2.5", "RFC 3226 section 3", "JPRS-2010 A-85"),
    severity=Severity.ERROR,
    consequence="Validators must fetch keys by TCP for every name, or cannot where TCP is blocked, and fail.",
    procedure=(
        "The zone's DNSKEY RRset is asked for with DO and a UDP payload size of 4096: the response has DNSKEY and "
        "RRSIG records, no TC, and an OPT record. The same with a payload size of 512 has TC if the first was larger "
        "than that, and the records come by TCP. Where the keys are too short for that, a larger RRset is asked for "
        "as well. In a zone that is not signed the response has neither, and an OPT record."
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
        return failed(f"The response is truncated, though {LARGE_PAYLOAD} octets would have been taken.", large)
    for rtype, covers in ((RdataType.DNSKEY, RdataType.NONE), (RdataType.RRSIG, RdataType.DNSKEY)):
        if rrset_of(large, "answer", subject.origin, rtype, covers) is None:
            return failed(f"The response lacks the {rtype.name} records.", large)
    if large.octets > SMALL:
        return _by_tcp_if_truncated(subject, large)
    # Few and short keys: another RRset has to show it.
    place = subject.landmarks.larger_than(SMALL)
    if place is None:
        return inconclusive(f"The response has only {large.octets} octets, so any server can give it.", large)
    large = subject.asker.udp(Query(name=place.name, rtype=place.rtype, do=True, payload=LARGE_PAYLOAD))
    if large.message is None:
        return subject.unanswered(large)
    if large.is_truncated or large.octets <= SMALL:
        return failed(f"A response of more than {SMALL} octets does not come whole by UDP.", large)
    return _by_tcp_if_truncated(subject, large)


def _by_tcp_if_truncated(subject: AuthoritativeSubject, large: Exchange) -> Outcome:
    """Ask the same as a client that takes 512 octets, and by TCP."""
    query = replace(large.query, payload=SMALL)
    small = subject.asker.udp(query)
    if small.message is None:
        return subject.unanswered(small)
    if not small.is_truncated:
        return failed(f"The response to a client that takes {SMALL} octets has no TC.", large, small)
    by_tcp = subject.asker.tcp(query)
    if by_tcp.message is None:
        return subject.unanswered(by_tcp)
    if rrset_of(by_tcp, "answer", query.name, query.rtype) is None:
        return failed("The records do not come by TCP either.", large, small, by_tcp)
    return passed(f"{large.octets} octets came by UDP; with {SMALL}, TC and the records by TCP.", large, small)
