"""A-huge-tcp: responses by TCP beyond 16 KiB."""

from dnsrig.items.authoritative._probes import wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

LIMIT = 16_384
"""Octets that a pointer of name compression reaches (RFC 1035 section 4.1.4), and that many buffers have."""
ITEM = Item(
    id="A-huge-tcp",
    role="authoritative",
    group="Transport",
    requirement="An RRset of more than 16 KiB comes whole by TCP, whose messages may have 65535 octets.",
    references=("RFC 1035 section 4.2.2", "RFC 1035 section 4.1.4", "RFC 7766 section 8", "RFC 2181 section 9"),
    severity=Severity.ERROR,
    consequence="RRsets with very many records, such as of large clusters, do not resolve, or in part.",
    procedure=(
        "The smallest RRset whose data exceed 16384 octets is asked for by TCP without EDNS, and with DO: there is a "
        "response, without TC, and its records have as many octets as in the zone."
    ),
    dig=("dig @{server} -p {port} {large} +norec +noedns +tcp",),
    needs=("zone",),
    faults=(
        "cuts-huge-by-tcp",
        "drops-huge-by-tcp",
        "cuts-tcp",
        "drops-large-by-tcp",
        "no-tcp",
        "drops-tcp",
        "wrong-id-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask by TCP alone."""
    place = subject.landmarks.larger_than(LIMIT)
    if place is None:
        return not_applicable(f"No RRset with more than {LIMIT} octets of data is known in the zone.")
    shown = []
    with_do = () if subject.lacks("edns") else (True,)
    for do in (False, *with_do):
        query = Query(name=place.name, rtype=place.rtype, do=do, payload=USUAL_PAYLOAD if do else None)
        exchange = subject.asker.tcp(query)
        if exchange.message is None and do and subject.answers.get(subject.origin, place.rtype).message is None:
            # Queries with DO are not answered at all: A-dnssec-answers is about that.
            continue
        wrong = wrong_rcode(subject, exchange)
        if wrong is not None:
            return wrong
        if exchange.is_truncated:
            return failed("The response by TCP has TC.", exchange)
        rrset = rrset_of(exchange, "answer", place.name, place.rtype)
        octets = sum(len(rdata.to_wire() or b"") for rdata in rrset or ())
        if octets < place.octets:
            return failed(f"By TCP the records have {octets} octets, in the zone they have {place.octets}.", exchange)
        shown.append(exchange)
    return passed(f"The RRset, of {place.octets} octets, comes whole by TCP.", *shown)
