"""A-peers-ns: servers that agree on the NS RRset."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._peers import judge_agreement
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-peers-ns",
    role="authoritative",
    group="Secondaries",
    requirement="All servers of the zone have the same NS RRset.",
    references=("RFC 1034 section 4.2.2", "RFC 1912 section 2.8"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers use the servers that the last answer named: some are asked too much, some never, some do not exist."
    ),
    procedure="Each server is asked for the NS RRset at the apex.",
    dig=("dig @{server} -p {port} {zone} NS +norec +noedns +short",),
    needs=("zone", "peers"),
    faults=("other-ns", "no-ns"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask each server."""
    query = Query(name=subject.origin, rtype=RdataType.NS, payload=None)

    def names(exchange: Exchange) -> frozenset[dns.name.Name]:
        rrset = rrset_of(exchange, "answer", subject.origin, RdataType.NS)
        return frozenset(rdata.target for rdata in rrset or ())

    exchanges = [asker.ask(query) for asker in (subject.asker, *subject.peers)]
    return judge_agreement(exchanges, names, lambda exchange: f"{len(names(exchange))} NS records")
