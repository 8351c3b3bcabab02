"""N-pipelining: several queries over one TCP connection."""

from collections.abc import Callable, Sequence

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed, inconclusive, not_applicable, passed

QUERIES, IDLE_S = 4, 0.1

ITEM = Item(
    id="N-pipelining",
    role="path",
    group="TCP",
    requirement="Several queries over one TCP connection come through the path, at once and one after the other.",
    references=("RFC 7766 section 6.2.1", "RFC 7766 section 6.2.1.1", "RFC 9210 section 4.2"),
    severity=Severity.WARNING,
    consequence="Resolvers behind the path that keep connections lose answers, or open a connection for each query.",
    procedure=(
        f"By each version of IP {QUERIES} addresses are asked for over one connection without waiting, then as many "
        f"each {IDLE_S * 1e3:g} ms after the response before. What is not answered is asked for without the path, and "
        "over connections of its own."
    ),
    dig=("dig @{server} -p {port} +noedns +tcp +keepopen x.plain.rig.example A y.plain.rig.example A   # dig waits",),
    faults=("path-closes-tcp-after-one", "path-discards-pipelined"),
)


def _at_once(asker: Asker) -> Sequence[Exchange]:
    return asker.tcp_pipelined([plain_query() for _ in range(QUERIES)])


def _in_turn(asker: Asker) -> Sequence[Exchange]:
    return asker.tcp_in_turn([plain_query() for _ in range(QUERIES)], IDLE_S)


MANNERS: Sequence[tuple[str, Callable[[Asker], Sequence[Exchange]]]] = (
    ("at once", _at_once),
    ("one after the other", _in_turn),
)


def check(subject: PathSubject) -> Outcome:
    """Ask over one connection, by each version of IP by which there are connections at all."""
    families = [family for family in subject.families if "tcp" in subject.transports(family)]
    if not families:
        return not_applicable("Queries by TCP do not come through the path (see N-tcp).")
    unclear: Outcome | None = None
    for family in families:
        for words, ask in MANNERS:
            found = _check(subject, family, words, ask)
            if found is not None and found.verdict is Verdict.FAIL:
                return found
            unclear = unclear or found
    spoken = " and ".join(VERSIONS[family] for family in families)
    return unclear or passed(
        f"{QUERIES} queries over one connection are answered over {spoken}, however they are sent."
    )


def _check(
    subject: PathSubject, family: Family, words: str, ask: Callable[[Asker], Sequence[Exchange]]
) -> Outcome | None:
    """Judge one manner; None where all are answered."""
    way = subject.way(family)
    exchanges = ask(way.asker)
    missing = _missing(exchanges)
    if not missing:
        return None
    said = f"By {VERSIONS[family]} {len(missing)} of {QUERIES} queries that are sent {words} over one TCP connection"
    said = f"{said} are not answered: {missing[0].silence or missing[0].malformed}"
    directly = _missing(ask(way.direct))
    if directly:
        return inconclusive(f"{said}; without the path {len(directly)} are not either.", missing[0], directly[0])
    alone = _missing([way.asker.tcp(plain_query()) for _ in range(QUERIES)])
    if alone:
        return inconclusive(f"{said}; over connections of their own {len(alone)} are not either.", missing[0], alone[0])
    return failed(f"{said}; without the path, and over connections of their own, all are.", missing[0])


def _missing(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.message is None]
