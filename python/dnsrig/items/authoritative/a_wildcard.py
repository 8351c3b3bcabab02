"""A-wildcard: wildcards."""

from dnsrig.items.authoritative._probes import type_text, wrong_rcode
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.asker import LONGEST_NAME, name_below, random_label
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
    procedure=(
        "A random name that a wildcard covers, one below it, and the wildcard itself are asked for; all have records."
    ),
    dig=(
        "dig @{server} -p {port} {wildcard} {type} +norec +noedns",
        "dig @{server} -p {port} random.{wildcard_parent} {type} +norec +noedns",
    ),
    needs=("zone", "wildcard"),
    faults=("no-wildcards", "wildcard-owner", "wildcards-of-one-label"),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a covered name and for the asterisk's own."""
    place = subject.place("wildcard")
    name = name_below(place.name.parent(), random_label().encode())
    exchange = subject.asker.ask(Query(name=name, rtype=place.rtype, payload=None))
    wrong = wrong_rcode(subject, exchange)
    if wrong is not None:
        return wrong
    given = rrset_of(exchange, "answer", name, place.rtype)
    if given is None:
        return failed(f"The answer has no {type_text(place.rtype)} record of the name.", exchange)
    if len(name.to_wire() or b"") + 2 <= LONGEST_NAME:
        deeper = name_below(name, b"x")
        below = subject.asker.ask(Query(name=deeper, rtype=place.rtype, payload=None))
        if below.message is not None and rrset_of(below, "answer", deeper, place.rtype) is None:
            return failed(f"A name of two more labels gets no {type_text(place.rtype)} record.", exchange, below)
    itself = subject.asker.ask(Query(name=place.name, rtype=place.rtype, payload=None))
    if itself.message is None:
        return subject.unanswered(itself)
    # By owner and type, as servers that balance load give other records each time.
    if rrset_of(itself, "answer", place.name, place.rtype) is None:
        return failed(f"The wildcard itself has no {type_text(place.rtype)} record.", exchange, itself)
    return passed(f"The answer has {type_text(place.rtype)} records under the name, as the wildcard has.", exchange)
