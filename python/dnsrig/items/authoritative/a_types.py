"""A-types: the types in use."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import USUAL_TYPES
from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-types",
    role="authoritative",
    group="Answers",
    requirement=(
        "Queries for the types in use are answered, whether a name has them or not: with NOERROR at names that exist, "
        "with the CNAME record at aliases, with a referral where NS is asked for at a delegation."
    ),
    references=("RFC 4074 section 3", "RFC 1034 section 4.3.2", "RFC 3597 section 3", "RFC 8906 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Clients that ask for AAAA or HTTPS first wait, or take the name for absent; certificates are not issued where "
        "CAA is not answered."
    ),
    procedure=(
        "AAAA, MX, TXT, SRV, CAA, TLSA, SVCB and HTTPS are asked for at the apex, at a host and at an alias, NS at a "
        "delegation."
    ),
    dig=("dig @{server} -p {port} {host} AAAA +norec +noedns   # and the other types",),
    needs=("zone",),
    faults=(
        "drops-aaaa",
        "nxdomain-for-aaaa",
        "drops-newer-types",
        "servfail-to-mx",
        "cname-for-a-only",
        "servfail-to-ns-of-delegations",
        "nxdomain-for-nodata",
        "hides-cname",
        "no-referral",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for each type at each kind of name."""
    marks = subject.landmarks
    names = [subject.origin, *([] if marks.host is None else [marks.host.name])]
    asked = [(name, rtype) for name in names for rtype in USUAL_TYPES]
    asked += [] if marks.delegation is None else [(marks.delegation, RdataType.NS)]
    answered = []
    for name, rtype in asked:
        exchange = subject.asker.ask(Query(name=name, rtype=rtype, payload=None))
        if exchange.message is None:
            return subject.unanswered(exchange)
        if exchange.rcode != dns.rcode.NOERROR:
            return failed(f"The response code to {exchange.title} is {rcode_text(exchange)}, not NOERROR.", exchange)
        answered.append(exchange)
    for rtype in () if marks.alias is None else USUAL_TYPES:
        exchange = subject.asker.ask(Query(name=subject.name("alias"), rtype=rtype, payload=None))
        wrong = _wrong_alias(subject, exchange, subject.name("alias"))
        if wrong is not None:
            return wrong
        answered.append(exchange)
    return passed(f"{len(answered)} queries are answered.", answered[0])


def _wrong_alias(subject: AuthoritativeSubject, exchange: Exchange, alias: dns.name.Name) -> Outcome | None:
    """Judge the response for a type at an alias, whose target need not exist; None if it is right."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    if rrset_of(exchange, "answer", alias, RdataType.CNAME) is not None:
        return None
    return failed(f"The response for {type_text(exchange.query.rtype)} at the alias has no CNAME record.", exchange)
