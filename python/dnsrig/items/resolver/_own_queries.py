"""What items about the resolver's own queries share: what came to the tree for names that nobody has asked for."""

from dns.rdatatype import RdataType

from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import UNSIGNED_FRESH, ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery

QUERIES = 40


def own_queries(subject: ResolverSubject) -> list[SeenQuery]:
    """Ask for 40 names one after the other; give the queries for them by UDP in their order.

    It ends early with the second query that is not answered. What items share is asked for once.
    """
    return subject.once("own queries", lambda: _ask_for_names(subject))


def _ask_for_names(subject: ResolverSubject) -> list[SeenQuery]:
    seen: list[SeenQuery] = []
    silent = 0
    for _ in range(QUERIES):
        name = subject.fresh_name(UNSIGNED_FRESH)
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
        silent += exchange.message is None
        if silent > 1:
            break
        seen += [one for one in subject.seen_of(name) if one.transport == "udp"]
    return seen
