"""A-nodata: names without the type."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import usual_absences
from dnsrig.items.authoritative._below import wrong_wildcard_nodata
from dnsrig.items.authoritative._places import wrong_denial
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-nodata",
    role="authoritative",
    group="Denial",
    requirement=(
        "A query for a type that an existing name has not gets NOERROR, no answer, and the zone's SOA record in "
        "the authority section."
    ),
    references=("RFC 2308 section 2.2", "RFC 2308 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers cannot cache the denial, or take all types of the name for absent: IPv6 or mail fails with it."
    ),
    procedure=(
        "MINFO is asked for at a name that has other types, and at one that a wildcard covers; the types in use are "
        "asked for at a host, without EDNS and with DO: those that it has not are denied."
    ),
    dig=("dig @{server} -p {port} {host} MINFO +norec +noedns",),
    needs=("zone",),
    faults=(
        "no-soa-in-denial",
        "other-soa-in-denial",
        "nxdomain-for-nodata",
        "nxdomain-for-aaaa",
        "nxdomain-for-text-with-do",
        "nxdomain-for-wildcard-nodata",
        "no-soa-for-mx",
        "servfail-to-mx",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a type that nobody uses any more, and for those in use."""
    host = subject.landmarks.host
    name = subject.origin if host is None else host.name
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.MINFO, payload=None))
    wrong = wrong_denial(subject, exchange, dns.rcode.NOERROR) or wrong_wildcard_nodata(subject)
    for do in (False, True):
        for _, further in usual_absences(subject, do=do):
            if do and further.rcode == dns.rcode.FORMERR:
                # Servers that know no EDNS may say so.
                continue
            wrong = wrong or wrong_denial(subject, further, dns.rcode.NOERROR)
    return wrong or passed("NOERROR with the SOA record.", exchange)
