"""N-intercept: interception."""

from dns.rdatatype import RdataType

from dnsrig.items.path._through import ways
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

UNTRIED = (
    "Queries come to the server. Whether something answers in the place of others was not tried: that takes an "
    "address beyond the path at which nothing answers DNS (--nowhere)."
)

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
    procedure=(
        "The server is asked by each version of IP, by UDP and TCP, and sees the query; then addresses where nothing "
        "answers DNS are asked. Where none is known (--nowhere), the item may fail and cannot pass: what answers in "
        "the place of other servers alone is not seen."
    ),
    dig=("dig @{nowhere} rig.example SOA",),
    faults=(
        "path-intercepts",
        "path-other-server",
        "path-clears-do",
        "path-strips-options",
        "path-rewrites",
        "path-rewrites-nxdomain",
        "path-rewrites-ipv6",
        "path-rewrites-by-tcp",
        "path-rewrites-mail",
        "path-clears-do-ipv6",
        "path-drops-types",
        "path-drops-any",
        "path-drops-refused",
        "path-sets-rd",
        "path-closes-after-response",
        "path-drops-rrsig-queries",
        "path-drops-edns-versions",
        "path-drops-long-queries",
        "path-answers-once-a-port",
        "path-lower-cases-queries",
        "path-drops-unusual-names",
        "path-drops-many-labels",
        "path-drops-cookies",
        "path-drops-updates",
        "path-answers-chaos",
        "path-blocks-names",
        "path-lowers-ttl",
        "path-lower-cases-responses",
        "path-clears-ad",
        "path-clears-ad-in-denials",
        "path-clears-cd",
        "path-clears-do-in-responses",
        "path-strips-proofs",
        "path-strips-signatures-of-keys",
        "path-strips-signatures-of-types-in-use",
        "path-strips-signatures-by-tcp",
        "path-strips-options-of-responses",
        "path-strips-ede",
        "path-strips-opt-of-unsigned",
        "path-truncates-unsigned",
        "path-closes-tcp-after-one",
        "path-discards-pipelined",
        "path-forgets-udp",
    ),
)


def check(subject: PathSubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for family, transport in ways(subject):
        way = subject.way(family)
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
        answered = way.asker.tcp(query) if transport == "tcp" else way.asker.udp(query)
        if answered.message is None:
            return subject.lost(way, answered, transport)
        if not subject.seen(way, query):
            return failed(f"{answered.title} is answered, and has not come to the server.", answered)
        shown = (answered,)
    for nowhere in subject.nowhere:
        other = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
        for exchange in (nowhere.udp(other), nowhere.tcp(other)):
            if exchange.response is not None:
                return failed(
                    f"{exchange.server}, where no server is, answers by {exchange.transport.upper()}.", exchange
                )
    if not subject.nowhere:
        return inconclusive(UNTRIED, *shown)
    return passed("The server is asked, and nobody answers where no server is.", *shown)
