"""What items about the resolver's own queries share: what came to the tree for names that nobody has asked for."""

from collections.abc import Sequence

from dns.rdatatype import RdataType

from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import UNSIGNED_FRESH, ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Outcome, inconclusive, not_applicable

QUERIES = 100


def own_queries(subject: ResolverSubject) -> list[SeenQuery]:
    """Ask for 100 names one after the other; give the queries for them by UDP in their order.

    It ends early with the second query that is not answered. What items share is asked for once.
    """
    return subject.once("own queries", lambda: _ask_for_names(subject))


def too_few(subject: ResolverSubject, seen: Sequence[SeenQuery]) -> Outcome | None:
    """Say why there is no verdict where fewer than half of the queries came by UDP; None where enough came."""
    if len(seen) >= QUERIES // 2:
        return None
    if not seen and _asks_by_tcp(subject):
        return not_applicable("The resolver asks servers by TCP alone, and this is about UDP.")
    return inconclusive(f"{len(seen)} queries for {QUERIES} names came to the tree by UDP.")


def _asks_by_tcp(subject: ResolverSubject) -> bool:
    """Say whether queries for such names came, and all by TCP: some resolvers are told to ask so."""
    came = [] if subject.seen is None else subject.seen.below(UNSIGNED_FRESH)
    return {one.transport for one in came} == {"tcp"}


def _ask_for_names(subject: ResolverSubject) -> list[SeenQuery]:
    seen: list[SeenQuery] = []
    silent = 0
    for _ in range(QUERIES):
        name = subject.fresh_name(UNSIGNED_FRESH)
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
        silent += exchange.message is None
        if silent > 1:
            break
        # What is sent once more because nothing came back may have the same ID and port.
        sent = {(one.id, one.source_port): one for one in reversed(subject.seen_of(name)) if one.transport == "udp"}
        seen += reversed(sent.values())
    return seen
