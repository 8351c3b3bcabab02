"""What items about costly zones share: others are to be served while the resolver works on them."""

import statistics
import threading
import time

from dns.rdatatype import RdataType

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import UNSIGNED
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.verdicts import Evidence, Outcome, failed, inconclusive, passed

LONGEST_S = 2.0
"""Others are to be answered within this time; stubs ask again after some seconds."""
USUAL_S = 0.5
"""A resolver, or a machine, that takes longer without burden cannot be judged."""
WAITS_S = (0.5, 0.5, 1.0, 2.0, 4.0, 8.0)
"""A query is sent again so soon that one lost message is no delay to speak of."""
PAUSE_S = 0.05
CALM_QUERIES = 5


def check_burden(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask all costly questions of an item at once, and meanwhile for a name that is in the cache."""
    # The first may have to fetch it, and one may be late by chance.
    calm_s = statistics.median(_timed(subject)[0] for _ in range(CALM_QUERIES))
    rows = subject.rows(item_id)
    if not rows:
        return inconclusive("The tree has no question for this.")
    if calm_s > USUAL_S:
        return inconclusive(f"The resolver takes {calm_s:.1f} s for cached data even without burden.")
    over = threading.Event()
    with thread_pool(len(rows) + 1, "burden") as pool:
        meanwhile = pool.submit(_watch, subject, over)
        queries = [Query(name=row.name, rtype=row.case.rtype, rd=True, do=True) for row in rows]
        costly = list(pool.map(subject.asker.ask, queries))
        over.set()
        longest_s, slowest = meanwhile.result()
    untold = [row.zone.name for row in rows if not _came(subject, row)]
    if untold:
        return inconclusive(f"No query in {untold[0]} came to the tree, so there was no burden.", costly[0])
    answered = sum(exchange.message is not None for exchange in costly)
    shown = Evidence(
        "times",
        f"usual without burden {calm_s * 1e3:.0f} ms, under burden {longest_s * 1e3:.0f} ms; "
        f"{answered} of {len(costly)} costly queries answered",
    )
    if slowest.message is None and subject.silence():
        return failed(
            f"Since {len(rows)} costly queries were asked, the resolver does not answer cached data any more.",
            slowest,
            shown,
        )
    if longest_s > LONGEST_S:
        return failed(
            f"While {len(rows)} costly queries were worked on, cached data took {longest_s:.1f} s.", slowest, shown
        )
    return passed(
        f"While {len(rows)} costly queries were worked on, cached data took at most {longest_s:.2f} s.", shown
    )


def _came(subject: ResolverSubject, row: TableRow) -> bool:
    """Say whether the row's zone was ever asked, as far as that can be seen: what is costly may be in the cache."""
    return subject.seen is None or not subject.is_seen_from_start or any(subject.seen.below(row.zone.origin))


def _timed(subject: ResolverSubject) -> tuple[float, Exchange]:
    began = time.monotonic()
    asker = Asker(subject.asker.server, subject.asker.make_socket, WAITS_S)
    exchange = asker.udp(Query(name=UNSIGNED, rtype=RdataType.A, rd=True, payload=None))
    return time.monotonic() - began, exchange


def _watch(subject: ResolverSubject, over: threading.Event) -> tuple[float, Exchange]:
    """Ask again and again until it is over; give the slowest."""
    slowest = _timed(subject)
    while not over.wait(PAUSE_S):
        slowest = max(slowest, _timed(subject), key=lambda timed: timed[0])
    return slowest
