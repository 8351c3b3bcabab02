"""A-lookup-case: look-up without regard to case."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import type_text, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import Place
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-lookup-case",
    role="authoritative",
    group="Answers",
    requirement="Names are looked up without regard to the case of their letters.",
    references=("RFC 4343 section 3", "RFC 1034 section 3.1"),
    severity=Severity.CRITICAL,
    consequence="Resolvers that vary the case against spoofing (0x20) find that names do not exist.",
    procedure="A name that exists is asked for with its letters in the other case; its records come.",
    dig=("dig @{server} -p {port} {host} {type} +norec +noedns   # with letters in upper case",),
    needs=("zone",),
    faults=("case-sensitive",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with each letter in the other case."""
    place = subject.landmarks.host or Place(subject.origin, RdataType.SOA)
    name = dns.name.Name([label.swapcase() for label in place.name.labels])
    if name.labels == place.name.labels:
        return not_applicable(f"The name {place.name} has no letters.")
    exchange = subject.asker.ask(Query(name=name, rtype=place.rtype, payload=None))
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    if rrset_of(exchange, "answer", place.name, place.rtype) is None:
        return failed(f"The answer has no {type_text(place.rtype)} record of {name}.", exchange)
    return passed(f"The answer has the records of {name}.", exchange)
