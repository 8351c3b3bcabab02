"""A-case: the question's case."""

from dataclasses import replace

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
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
    procedure=(
        "A name that does not exist is asked for in mixed case, by UDP, by TCP and with DO, and one below a "
        "delegation; the questions of the responses are compared."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec   # with the zone's name in mixed case",),
    faults=("lower-cases", "lower-cases-with-do", "lower-cases-by-tcp", "lower-cases-in-referrals"),
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
    query = Query(name=mixed_case(subject.absent_name()), rtype=RdataType.SOA, payload=None)
    exchange = subject.asker.udp(query)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if not exchange.message.question:
        return inconclusive("The response has no question.", exchange)
    for one in (exchange, *_asked_otherwise(subject, query)):
        # Without response, or without question: other items say so.
        for given in [] if one.message is None else one.message.question[:1]:
            if given.name.labels != one.query.name.labels:
                return failed(f"The response to {one.title} has the question {given.name}.", one)
    return passed(f"The question came back as {exchange.message.question[0].name}.", exchange)


def _asked_otherwise(subject: AuthoritativeSubject, query: Query) -> list[Exchange]:
    """Ask by TCP, with DO, and below a delegation."""
    found = [subject.asker.tcp(query)]
    if not subject.lacks("edns"):
        found.append(subject.asker.udp(replace(query, do=True, payload=USUAL_PAYLOAD)))
    cut = subject.landmarks.delegation
    if cut is not None:
        below = mixed_case(child_of(cut, subject.denied_label))
        found.append(subject.asker.udp(Query(name=below, rtype=RdataType.A, payload=None)))
    return found
