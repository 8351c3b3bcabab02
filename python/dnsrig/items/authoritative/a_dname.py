"""A-dname: DNAME."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.asker import name_below, random_label
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-dname",
    role="authoritative",
    group="Answers",
    requirement=(
        "A query for a name below a DNAME record gets that record and a CNAME record made of it; its owner is not "
        "redirected."
    ),
    references=("RFC 6672 section 3.2", "RFC 6672 section 3.3", "RFC 6672 section 2.3"),
    severity=Severity.ERROR,
    consequence="The names of the whole subtree do not resolve; resolvers without DNAME need the CNAME record.",
    procedure=(
        "A random name below the owner of a DNAME record is asked for; the answer has the DNAME record, and a "
        "CNAME record from the name to the same labels below the DNAME record's target. Where that name would be too "
        "long, the response is YXDOMAIN. The CNAME record has no longer TTL than the DNAME record. "
        "A is asked for at the owner: the answer has no CNAME record of it."
    ),
    dig=(
        "dig @{server} -p {port} random.{dname} A +norec +noedns",
        "dig @{server} -p {port} {dname} A +norec +noedns",
    ),
    needs=("zone", "dname"),
    faults=("no-dname", "no-dname-cname", "dname-at-owner", "dname-alias-lives-longer"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name that no cache has."""
    owner = subject.name("dname")
    name = name_below(owner, random_label().encode())
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
    if exchange.message is None:
        return subject.unanswered(exchange)
    dname = rrset_of(exchange, "answer", owner, RdataType.DNAME)
    if dname is None:
        return failed(f"The response is {rcode_text(exchange)}, without the DNAME record.", exchange)
    try:
        wanted = dns.name.Name((name.labels[0], *dname[0].target.labels))
    except dns.name.NameTooLong:
        return _too_long(exchange)
    cname = rrset_of(exchange, "answer", name, RdataType.CNAME)
    if cname is None:
        return failed("The answer has no CNAME record for the name.", exchange)
    if cname[0].target != wanted:
        return failed(f"The CNAME record leads to {cname[0].target}, not to {wanted}.", exchange)
    if cname.ttl > dname.ttl:
        return failed(f"The CNAME record has the TTL {cname.ttl}, the DNAME record {dname.ttl}.", exchange)
    itself = subject.asker.ask(Query(name=owner, rtype=RdataType.A, payload=None))
    if rrset_of(itself, "answer", owner, RdataType.CNAME) is not None:
        return failed("The DNAME record's own name is redirected: the answer has a CNAME record of it.", itself)
    return passed(f"The answer has the DNAME record, and CNAME to {wanted}.", exchange)


def _too_long(exchange: Exchange) -> Outcome:
    """Judge the response where there is no room below the target for the name's label (RFC 6672 section 2.2)."""
    if exchange.rcode == dns.rcode.YXDOMAIN:
        return passed("The name made of the DNAME record would be too long, and the response is YXDOMAIN.", exchange)
    reason = f"The name made of the DNAME record would be too long; the response is {rcode_text(exchange)}."
    return not_applicable(reason, exchange)
