"""A-types: the types in use."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import USUAL_TYPES
from dnsrig.items.authoritative._places import serves_below, wrong_referral
from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.items.authoritative._with_do import by_tcp, takes_do
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
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
        "delegation: without EDNS, and with DO where the SOA record and a denial come so. At the host, or at the apex, "
        "they are asked for with DO by one TCP connection too."
    ),
    dig=(
        "dig @{server} -p {port} {host} AAAA +norec +noedns   # and the other types",
        "dig @{server} -p {port} {host} AAAA +norec +dnssec",
        "dig @{server} -p {port} {host} HTTPS +norec +dnssec +tcp",
    ),
    needs=("zone",),
    faults=(
        "drops-aaaa",
        "nxdomain-for-aaaa",
        "drops-newer-types",
        "servfail-to-mx",
        "cname-for-a-only",
        "servfail-to-ns-of-delegations",
        "answers-ns-of-delegations",
        "nxdomain-for-nodata",
        "hides-cname",
        "no-referral",
        "upward-for-delegations",
        "drops-aaaa-with-do",
        "nxdomain-for-aaaa-with-do",
        "nxdomain-for-text-with-do",
        "drops-newer-types-with-edns",
        "drops-newer-types-with-edns-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for each type at each kind of name, without EDNS and then with DO, a few by TCP."""
    answered: list[Exchange] = []
    for query in _queries(subject, do=False):
        exchange = subject.asker.ask(query)
        wrong = _wrong(subject, exchange)
        if wrong is not None:
            return wrong
        answered.append(exchange)
    if takes_do(subject):
        for query in _queries(subject, do=True):
            # What is truncated is answered; that it comes whole is the matter of others.
            exchange = subject.asker.udp(query)
            wrong = None if exchange.is_truncated else _wrong(subject, exchange)
            if wrong is not None:
                return wrong
            answered.append(exchange)
    last = _places(subject)[-1]
    exchanges = by_tcp(subject, [_query(last, rtype, do=True) for rtype in USUAL_TYPES])
    if isinstance(exchanges, Outcome):
        return exchanges
    wrong = next((found for one in exchanges if (found := _wrong(subject, one)) is not None), None)
    return wrong or passed(f"{len(answered) + len(exchanges)} queries are answered.", answered[0])


def _query(name: dns.name.Name, rtype: RdataType, *, do: bool) -> Query:
    return Query(name=name, rtype=rtype, do=do, payload=USUAL_PAYLOAD if do else None)


def _places(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    host = subject.landmarks.host
    return [subject.origin, *([] if host is None else [host.name])]


def _queries(subject: AuthoritativeSubject, *, do: bool) -> list[Query]:
    marks = subject.landmarks
    asked = [(name, rtype) for name in _places(subject) for rtype in USUAL_TYPES]
    asked += [] if marks.delegation is None else [(marks.delegation, RdataType.NS)]
    asked += [] if marks.alias is None else [(marks.alias, rtype) for rtype in USUAL_TYPES]
    return [_query(name, rtype, do=do) for name, rtype in asked]


def _wrong(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a response; None if it is right. The target of an alias need not exist."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    query, alias = exchange.query, subject.landmarks.alias
    if query.name == subject.landmarks.delegation:
        wrong = wrong_referral(subject, exchange)
        return None if wrong is None or serves_below(subject, query.name) else wrong
    with_do = " with DO" if query.do else ""
    if alias is not None and query.name == alias:
        if rrset_of(exchange, "answer", alias, RdataType.CNAME) is not None:
            return None
        said = f"The response for {type_text(query.rtype)}{with_do} at the alias"
        return failed(f"{said} has no CNAME record.", exchange)
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(
            f"The response code to {exchange.title}{with_do} is {rcode_text(exchange)}, not NOERROR.", exchange
        )
    return None
