"""F-types: records of types that are not filtered."""

import dns.name
import dns.rcode

from dnsrig.items.resolver._probes import rcode_text
from dnsrig.items.resolver._published import published
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_types import TYPED, TYPES
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

AT_ONCE = 6
ITEM = Item(
    id="F-types",
    role="resolver",
    group="Messages",
    requirement="Records of every type come as the zone has them, SVCB and HTTPS, TLSA, CAA and SRV among them.",
    references=("RFC 3597 section 3", "RFC 9460 section 4.2", "RFC 6698 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Browsers lose encrypted client hello and HTTP/3, mail servers the keys of others, and telephones their "
        "servers; where the resolver denies the records, forged, who validates behind it gets nothing at all."
    ),
    procedure=(
        f"Records of types {', '.join(rtype.name for rtype in TYPES)} are asked for with RD, without EDNS. The data "
        "are those of the zone."
    ),
    dig=tuple(f"dig @{{server}} -p {{port}} {TYPED} {rtype.name} +noedns" for rtype in TYPES[:2]),
    needs=("upstream",),
    faults=("filters-service-bindings", "drops-rare-types", "servfail-to-uri"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for each type, once more where there is an error."""
    name = dns.name.from_text(TYPED)
    queries = [Question(name, rtype).plain for rtype in TYPES]
    with thread_pool(AT_ONCE, "types") as pool:
        exchanges = list(pool.map(subject.asker.ask, queries))
    if all(exchange.rcode == dns.rcode.SERVFAIL for exchange in exchanges):
        return inconclusive(f"{name} is answered with SERVFAIL for all types.", exchanges[0])
    for place, exchange in enumerate(exchanges):
        if _complaint(subject, exchange):
            exchanges[place] = subject.asker.ask(exchange.query)
    silent = [exchange for exchange in exchanges if exchange.message is None]
    if silent:
        return subject.unanswered(silent[0])
    wrong = [exchange for exchange in exchanges if _complaint(subject, exchange)]
    if wrong:
        said = "; ".join(f"{exchange.query.rtype.name}: {_complaint(subject, exchange)}" for exchange in wrong)
        return failed(f"Of {len(exchanges)} types, {len(wrong)} do not come as they are: {said}.", *wrong)
    return passed(f"{len(exchanges)} types come as the zone has them.", exchanges[0])


def _complaint(subject: ResolverSubject, exchange: Exchange) -> str:
    if exchange.message is None or exchange.rcode != dns.rcode.NOERROR:
        return rcode_text(exchange)
    there = published(subject, exchange.query.name, exchange.query.rtype)
    given = [rrset for rrset in exchange.message.answer if rrset.rdtype == exchange.query.rtype]
    if not given:
        return "no records"
    return "" if there is not None and set(given[0]) == set(there) else "other records"
