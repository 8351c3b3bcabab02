"""A-wildcard: wildcards."""

import dns.name

from dnsrig.items.authoritative._probes import type_text, wrong_rcode
from dnsrig.verification.asker import random_label
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-wildcard",
    role="authoritative",
    group="Answers",
    requirement="A name that a wildcard covers gets the wildcard's records with its own name as owner.",
    references=("RFC 4592 section 3.3.1", "RFC 1034 section 4.3.3"),
    severity=Severity.ERROR,
    consequence=(
        "Names that the zone's owner means to exist do not resolve, or resolvers drop answers with another owner."
    ),
    procedure="A random name that a wildcard covers is asked for, and the wildcard itself; the records are the same.",
    dig=("dig @{server} -p {port} random.PARENT {wildcard} +norec +noedns   # PARENT: the wildcard without *",),
    needs=("zone", "wildcard"),
    faults=("no-wildcards", "wildcard-owner"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a covered name and for the asterisk's own."""
    place = subject.place("wildcard")
    name = dns.name.Name((random_label().encode(), *place.name.labels[1:]))
    exchange = subject.asker.ask(Query(name=name, rtype=place.rtype, payload=None))
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    given = rrset_of(exchange, "answer", name, place.rtype)
    if given is None:
        return failed(f"The answer has no {type_text(place.rtype)} record of the name.", exchange)
    itself = subject.asker.ask(Query(name=place.name, rtype=place.rtype, payload=None))
    if itself.message is None:
        return subject.unanswered(itself)
    own = rrset_of(itself, "answer", place.name, place.rtype)
    if own is None or set(own) != set(given):
        return failed("The records are not those of the wildcard.", exchange, itself)
    return passed("The answer has the wildcard's records under the name.", exchange)
