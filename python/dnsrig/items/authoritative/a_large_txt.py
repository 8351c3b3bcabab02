"""A-large-txt: large TXT records."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

LIMIT = 512
ITEM = Item(
    id="A-large-txt",
    role="authoritative",
    group="EDNS and size",
    requirement="A TXT RRset of more than 512 octets comes complete, with all strings of its records.",
    references=("RFC 1035 section 3.3.14", "RFC 7208 section 3.3"),
    severity=Severity.ERROR,
    consequence="Keys and policies of mail that stand in TXT records (DKIM, SPF) are cut, and mail is refused.",
    procedure=(
        "The RRset is asked for by UDP, and by TCP when it is truncated; its data have as many octets as in the zone."
    ),
    dig=("dig @{server} -p {port} {large} +norec +noedns",),
    needs=("zone",),
    faults=(
        "keeps-first-string",
        "clears-tc",
        "cuts-without-tc",
        "cuts-tcp",
        "drops-huge-by-tcp",
        "cuts-huge-by-tcp",
        "drops-large-by-tcp",
        "no-tcp",
        "drops-tcp",
        "wrong-id-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the largest TXT RRset, and for the smallest of those that have several strings for certain."""
    places = [place for place in subject.landmarks.large if place.rtype == RdataType.TXT and place.octets > LIMIT]
    if not places:
        return not_applicable("No TXT RRset of more than 512 octets is known in the zone.")
    exchanges = []
    for place in dict.fromkeys((places[0], places[-1])):
        exchange = subject.asker.ask(Query(name=place.name, rtype=place.rtype, payload=None))
        wrong = wrong_rcode(subject, exchange)
        if wrong is not None:
            return wrong
        rrset = rrset_of(exchange, "answer", place.name, place.rtype)
        octets = sum(len(rdata.to_wire() or b"") for rdata in rrset or ())
        if octets != place.octets:
            return failed(f"The records have {octets} octets, in the zone they have {place.octets}.", exchange)
        exchanges.append(exchange)
    return passed(f"The records are complete: {places[0].octets} octets.", *exchanges)
