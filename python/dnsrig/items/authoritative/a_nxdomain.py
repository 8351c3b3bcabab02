"""A-nxdomain: names that do not exist."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._below import wrong_below
from dnsrig.items.authoritative._places import wildcard_signs, wrong_denial
from dnsrig.items.authoritative._probes import type_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.items.authoritative._whole import wrong_expansion
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

OTHER_TYPES = (RdataType.AAAA, RdataType.MX, RdataType.TXT)
ITEM = Item(
    id="A-nxdomain",
    role="authoritative",
    group="Denial",
    requirement=(
        "A query for a name that does not exist gets NXDOMAIN and the zone's SOA record in the authority section."
    ),
    references=("RFC 2308 section 2.1", "RFC 2308 section 3", "RFC 4592 section 3.3.1"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers cannot cache the denial, and ask again for each query: the server bears the load of every "
        "random name."
    ),
    procedure=(
        "A name directly below the apex that does not exist is asked for, by A and then AAAA, MX and TXT. Where "
        "the response is NOERROR, the zone may "
        "have a wildcard without address: other types are asked for, and a proof of the wildcard. Then "
        "names below a host, an alias and an empty non-terminal are asked for. An answer is right by a wildcard "
        "directly below the closest name that exists, and a failure where the zone's data, known as a whole, have none."
    ),
    dig=("dig @{server} -p {port} absent.{zone} A +norec +noedns",),
    needs=("zone",),
    faults=(
        "no-soa-in-denial",
        "other-soa-in-denial",
        "noerror-for-nxdomain",
        "noerror-below-names",
        "noerror-for-mx",
        "wildcard-below-names",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a random name, unless a wildcard gives it existence."""
    wildcard = subject.landmarks.wildcard
    if wildcard is not None and wildcard.name.parent() == subject.origin:
        return not_applicable(f"Every name directly below {subject.origin} exists by its wildcard.")
    name = subject.absent_name()
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
    if exchange.message is not None and exchange.message.answer and exchange.rcode == dns.rcode.NOERROR:
        wrong = wrong_expansion(subject, exchange)
        if wrong is not None:
            return wrong
        return not_applicable("A random name has an answer, so the zone has a wildcard at its apex.", exchange)
    if exchange.message is not None and exchange.rcode == dns.rcode.NOERROR:
        shown = wildcard_signs(subject, name)
        if shown is not None:
            return not_applicable("A random name has other types, so the zone has a wildcard at its apex.", shown)
    wrong = wrong_denial(subject, exchange, dns.rcode.NXDOMAIN) or wrong_below(subject) or _wrong_types(subject, name)
    return wrong or passed("NXDOMAIN with the SOA record.", exchange)


def _wrong_types(subject: AuthoritativeSubject, name: dns.name.Name) -> Outcome | None:
    """Judge the denials of other types at a name for which A is denied with NXDOMAIN; None if they are right."""
    for rtype in OTHER_TYPES:
        exchange = subject.asker.ask(Query(name=name, rtype=rtype, payload=None))
        if exchange.rcode == dns.rcode.NOERROR and exchange.message is not None:
            return failed(f"{type_text(rtype)} at the same name gets NOERROR.", exchange)
    return None
