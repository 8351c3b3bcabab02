"""A-nodata: names without the type."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._aliases import denials_behind_aliases
from dnsrig.items.authoritative._answers import usual_absences
from dnsrig.items.authoritative._below import wrong_wildcard_nodata
from dnsrig.items.authoritative._places import wrong_denial
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-nodata",
    role="authoritative",
    group="Denial",
    requirement=(
        "A query for a type that an existing name has not gets NOERROR, no answer, and the zone's SOA record in "
        "the authority section."
    ),
    references=("RFC 2308 section 2.2", "RFC 2308 section 3", "RFC 1034 section 4.3.2"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers cannot cache the denial, or take all types of the name for absent: IPv6 or mail fails with it."
    ),
    procedure=(
        "MINFO is asked for at a name that has other types, and at one that a wildcard covers; the types in use are "
        "asked for at a host and at the apex, without EDNS and with DO: those that are not there are denied. AAAA and "
        "MX are asked for at aliases: where the name that they lead to has not the type, that denial has the SOA "
        "record, too."
    ),
    dig=("dig @{server} -p {port} {host} MINFO +norec +noedns",),
    needs=("zone",),
    faults=(
        "no-soa-in-denial",
        "other-soa-in-denial",
        "nxdomain-for-nodata",
        "nxdomain-for-aaaa",
        "nxdomain-for-text-with-do",
        "nxdomain-for-aaaa-with-do",
        "nxdomain-for-wildcard-nodata",
        "no-soa-for-mx",
        "servfail-to-mx",
        "no-soa-behind-aliases",
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
        wrong = wrong or _wrong_behind_aliases(subject, do=do)
    return wrong or passed("NOERROR with the SOA record.", exchange)


def _wrong_behind_aliases(subject: AuthoritativeSubject, *, do: bool) -> Outcome | None:
    """Judge the denials where aliases lead to names without the type; None if they are right."""
    for denial in denials_behind_aliases(subject, do=do):
        if rrset_of(denial.exchange, "authority", subject.origin, RdataType.SOA) is None:
            what = f"The response to {denial.exchange.title} leads to {denial.end}, which has no {denial.rtype.name}"
            return failed(f"{what}, and has no SOA record of the zone.", denial.exchange)
    return None
