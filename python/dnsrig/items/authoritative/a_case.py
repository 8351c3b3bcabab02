"""A-case: the question's case."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-case",
    role="authoritative",
    group="Header",
    requirement="The response's question has the letters of the query in the same case.",
    references=("RFC 1035 section 7.3", "RFC 4343 section 4.1"),
    severity=Severity.ERROR,
    consequence="Resolvers that vary the case against spoofing (0x20) drop the responses: its names do not resolve.",
    procedure="The SOA record is asked for with the zone's name in mixed case; the response's question is compared.",
    dig=("dig @{server} -p {port} {zone} SOA +norec   # with the zone's name in mixed case",),
    faults=("lower-cases",),
)


def mixed_case(name: dns.name.Name) -> dns.name.Name:
    """Give a name with every other letter in upper case."""
    octets = [bytearray(label) for label in name.labels]
    place = 0
    for label in octets:
        for index, octet in enumerate(label):
            if chr(octet).isalpha() and octet < 0x80:
                label[index] = ord(chr(octet).upper() if place % 2 == 0 else chr(octet).lower())
                place += 1
    return dns.name.Name([bytes(label) for label in octets])


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask in mixed case."""
    # The root has no letters, but every label that does not exist has.
    name = mixed_case(subject.absent_name())
    exchange = subject.asker.udp(Query(name=name, rtype=RdataType.SOA, payload=None))
    if exchange.message is None:
        return subject.unanswered(exchange)
    if not exchange.message.question:
        return inconclusive("The response has no question.", exchange)
    given = exchange.message.question[0].name
    if given.labels != name.labels:
        return failed(f"Asked for {name}, the response's question is {given}.", exchange)
    return passed(f"The question came back as {given}.", exchange)
