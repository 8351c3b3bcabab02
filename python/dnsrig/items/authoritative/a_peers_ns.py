"""A-peers-ns: servers that agree on the NS RRset."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

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
    exchanges = [asker.ask(query) for asker in (subject.asker, *subject.peers)]
    found = []
    for exchange in exchanges:
        if exchange.message is None:
            return inconclusive(f"A server does not answer: {exchange.trouble}.", exchange)
        rrset = rrset_of(exchange, "answer", subject.origin, RdataType.NS)
        found.append(frozenset(rdata.target for rdata in rrset or ()))
    if len(set(found)) > 1:
        return failed("The NS RRsets differ.", *exchanges)
    return passed(f"All {len(found)} have the same {len(found[0])} names.", *exchanges)
