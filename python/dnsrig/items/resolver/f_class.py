"""F-class: other classes than IN."""

import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.resolver._probes import plain_query, rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed
from dnsrig.verification.wire import read_wire

OTHER = dns.rdataclass.HS
"""Not CH: many servers answer that of themselves."""
ITEM = Item(
    id="F-class",
    role="resolver",
    group="Robustness",
    requirement="Queries for other classes are answered, and not with records of class IN.",
    references=("RFC 1035 section 3.2.4", "RFC 8906 section 2"),
    severity=Severity.WARNING,
    consequence="Clients wait for nothing, or take for another class's what is of IN.",
    procedure=(
        "An address is asked for in class HS: there is a response, of whatever code, with nothing in its "
        "answer, and nothing of class IN in its other sections."
    ),
    dig=("dig @{server} -p {port} -c HS -t A -q www.control.unsigned. +noedns",),
    needs=("names",),
    faults=("drops-other-classes", "ignores-class", "tells-other-classes-of-in"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask in another class."""
    exchange = subject.asker.udp(plain_query(subject, rdclass=OTHER))
    if exchange.response is None:
        return subject.unanswered(exchange)
    records = read_wire(exchange.response).records
    if any(record.section == "answer" for record in records):
        return failed(f"Records are given in class {dns.rdataclass.to_text(OTHER)}.", exchange)
    # What the class field of OPT holds is a size.
    of_in = [one for one in records if one.rdclass == dns.rdataclass.IN and one.rtype != RdataType.OPT]
    if of_in:
        said = f"records of class IN, such as {of_in[0].title} in its {of_in[0].section} section"
        return failed(f"In class {dns.rdataclass.to_text(OTHER)} the response has {said}.", exchange)
    return passed(f"In class {dns.rdataclass.to_text(OTHER)} the response is {rcode_text(exchange)}.", exchange)
