"""N-intercept: interception."""

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="N-intercept",
    role="path",
    group="Changes",
    requirement="Queries to an address come to the server at that address and to no other one.",
    references=("RFC 5625 section 3",),
    severity=Severity.ERROR,
    consequence=(
        "Clients cannot choose their resolver, and servers are asked by whom nobody knows; faults of the "
        "interceptor are everybody's."
    ),
    procedure="An address where nothing answers DNS is asked; then the server, which sees the client's own address.",
    dig=("dig @ADDRESS-WITHOUT-SERVER rig.example SOA",),
    needs=("ipv4", "nowhere"),
    faults=(
        "path-intercepts",
        "path-other-server",
        "path-clears-do",
        "path-strips-options",
        "path-rewrites",
        "path-rewrites-nxdomain",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    way = subject.way("ipv4")
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    answered = way.asker.udp(query)
    if answered.message is None:
        return subject.lost(way, answered)
    if not subject.seen(way, query):
        return failed("The query is answered, and has not come to the server.", answered)
    if subject.nowhere is not None:
        other = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
        for exchange in (subject.nowhere.udp(other), subject.nowhere.tcp(other)):
            if exchange.response is not None:
                return failed(
                    f"{exchange.server}, where no server is, answers by {exchange.transport.upper()}.", exchange
                )
    return passed("The server is asked, and nobody answers where no server is.", answered)
