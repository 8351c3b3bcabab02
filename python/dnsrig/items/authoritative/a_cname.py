"""A-cname: aliases."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._aliases import TYPES, end_of, known_aliases
from dnsrig.items.authoritative._answers import is_served_below
from dnsrig.items.authoritative._probes import rcode_text, type_text, wrong_rcode
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-cname",
    role="authoritative",
    group="Answers",
    requirement="A query for an alias gets its CNAME record, and what the server knows of its target.",
    references=("RFC 1034 section 4.3.2", "RFC 1034 section 3.6.2", "RFC 6604 section 3", "RFC 2308 section 2.1"),
    severity=Severity.ERROR,
    consequence=(
        "Without the CNAME record the name does not resolve; without the target every client needs another query."
    ),
    procedure=(
        "A is asked for at an alias and at its target; the first answer has the CNAME record and all that the "
        "second has. At some more aliases A is asked for: there are no addresses in place of the CNAME record, and "
        "where it leads to another zone no NXDOMAIN, unless the server has that zone, and gives its SOA record. AAAA "
        "and MX are asked for there too: whether a name exists does not depend on the type."
    ),
    dig=("dig @{server} -p {port} {alias} A +norec +noedns",),
    needs=("zone", "alias"),
    faults=(
        "hides-cname",
        "no-cname-target",
        "nxdomain-for-targets-elsewhere",
        "flattens-aliases",
        "nxdomain-for-aaaa-of-aliases",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for an alias and its target, and for some more aliases."""
    return _wrong_alias(subject) or _judged_target(subject)


def _wrong_alias(subject: AuthoritativeSubject) -> Outcome | None:
    """Look for aliases that are answered as if they were none, or denied for what the server knows nothing of."""
    for alias in known_aliases(subject):
        exchange = subject.answers.get(alias, RdataType.A, do=False)
        if exchange.message is None or exchange.is_truncated:
            continue
        types = {rrset.rdtype for rrset in exchange.message.answer if rrset.name == alias}
        if types & {RdataType.A} and RdataType.CNAME not in types:
            return failed(f"The answer for {alias} has addresses in place of its CNAME record.", exchange)
        other = next((one for one in _other_types(subject, alias) if _differ(one, exchange)), None)
        if other is not None:
            codes = f"{rcode_text(other)}, and to {type_text(exchange.query.rtype)} {rcode_text(exchange)}"
            return failed(f"The response code to {other.title} is {codes}: the name exists or not.", other, exchange)
        end = end_of(exchange, alias)
        if end is None or end.is_subdomain(subject.origin):
            continue
        has_zone = any(rrset.rdtype == RdataType.SOA for rrset in exchange.message.authority)
        if exchange.rcode == dns.rcode.NXDOMAIN and not has_zone:
            what = f"The response to {exchange.title} is NXDOMAIN, though {end} is in another zone"
            return failed(f"{what}, of which it has no SOA record: clients take it for absent.", exchange)
    return None


def _other_types(subject: AuthoritativeSubject, alias: dns.name.Name) -> list[Exchange]:
    return [subject.answers.get(alias, rtype, do=False) for rtype in TYPES]


def _differ(one: Exchange, other: Exchange) -> bool:
    """Say whether one says that the name which an alias leads to exists, and the other that it does not."""
    return {one.rcode, other.rcode} == {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}


def _judged_target(subject: AuthoritativeSubject) -> Outcome:
    """Compare what is given of an alias with what is given of its target."""
    alias = subject.name("alias")
    exchange = subject.asker.ask(Query(name=alias, rtype=RdataType.A, payload=None))
    wrong = wrong_rcode(subject, exchange) if exchange.rcode != dns.rcode.NXDOMAIN else None
    if wrong is not None:
        return wrong
    cname = rrset_of(exchange, "answer", alias, RdataType.CNAME)
    if cname is None or exchange.message is None:
        return failed("The answer has no CNAME record of the name.", exchange)
    target = cname[0].target
    if not target.is_subdomain(subject.origin):
        return passed("The answer has the CNAME record; the target is in another zone.", exchange)
    direct = subject.asker.ask(Query(name=target, rtype=RdataType.A, payload=None))
    if direct.message is None:
        return subject.unanswered(direct)
    # By owner and type, as servers that balance load give other addresses each time.
    given = {(rrset.name, rrset.rdtype) for rrset in exchange.message.answer}
    for rrset in direct.message.answer:
        if rrset.rdtype != RdataType.RRSIG and (rrset.name, rrset.rdtype) not in given:
            if is_served_below(subject, rrset.name):
                return passed("The answer has the CNAME record; the target is in a zone below this one.", exchange)
            return failed(
                f"The answer does not have the {type_text(rrset.rdtype)} records of its target.", exchange, direct
            )
    return passed("The answer has the CNAME record, and its target's.", exchange)
