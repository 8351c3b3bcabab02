"""What items about costly zones share: others are to be served while the resolver works on them, and work has bounds.

A resolver that the rig starts is judged by its CPU time too: threads, or a fast machine, serve others in time while
all is done that an attacker wants. Of one at an address it is seen how long others wait.
"""

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.resolver._work import Work, gets_calm
from dnsrig.verification.asker import Asker, random_label
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
FRESH_DIGITS = 4
MOST_WORK = 0.25
"""This part of all work is too much. Resolvers with bounds do 0.06 at most, most of it for messages of many octets."""
MOST_WAITED = 0.75
"""Others wait for this part of the time of all work, in all, where one thread serves them and does all the work."""
LEAST_WAITED_S = 0.5
"""What others wait less may have other reasons."""
LEAST_DELAY_S, DELAY_MULTIPLE = 0.05, 10
"""A delay that is shorter, or less than so many times what is usual, is the network's, and counts for nothing."""


@dataclass(frozen=True, slots=True)
class Watched:
    """How others were served."""

    longest_s: float
    waited_s: float
    """In all, beyond what is usual and what a lost message may have cost, by those alone who waited noticeably."""
    slowest: Exchange
    cpu_s: float | None
    """What the resolver took meanwhile; None where that cannot be seen."""


def check_burden(subject: ResolverSubject, item_id: str, work: Work) -> Outcome:
    """Ask all costly questions of an item at once, and meanwhile for a name that is in the cache."""
    # The first may have to fetch it, and one may be late by chance.
    calm_s = statistics.median(_timed(subject)[0] for _ in range(CALM_QUERIES))
    rows = subject.rows(item_id)
    if not rows:
        return inconclusive("The tree has no question for this.")
    if calm_s > USUAL_S:
        return inconclusive(f"The resolver takes {calm_s:.1f} s for cached data even without burden.")
    all_s, is_calm = work.all_s, gets_calm(subject)
    over, began_s = threading.Event(), time.monotonic()
    with thread_pool(len(rows) + 1, "burden") as pool:
        meanwhile = pool.submit(_watch, subject, over, calm_s)
        queries = [costly_query(row) for row in rows]
        costly = list(pool.map(subject.asker.ask, queries))
        over.set()
        watched = meanwhile.result()
    if not is_calm:
        watched = replace(watched, cpu_s=None)
    cpu_s = watched.cpu_s
    untold = [row.zone.name for row in rows if not came_since(subject, row, began_s)]
    if len(untold) == len(rows) or (untold and watched.longest_s <= LONGEST_S):
        return inconclusive(
            f"No query in {untold[0]} came to the tree, so there was no burden; it may be in the cache.", costly[0]
        )
    answered = sum(exchange.message is not None for exchange in costly)
    shown = Evidence(
        "times",
        f"usual without burden {calm_s * 1e3:.0f} ms, under burden {watched.longest_s * 1e3:.0f} ms, beyond what is "
        f"usual {watched.waited_s * 1e3:.0f} ms in all; {answered} of {len(costly)} costly queries answered; "
        f"all {work.operations} {work.called} take {all_s:.2f} s of CPU time on this machine, the resolver took "
        f"{'what is not known' if cpu_s is None else f'{cpu_s:.2f} s'}",
    )
    if watched.slowest.message is None and subject.silence():
        return failed(
            f"Since {len(rows)} costly queries were asked, the resolver does not answer cached data any more.",
            watched.slowest,
            shown,
        )
    return judged(len(rows), watched, work, all_s, shown)


def judged(count: int, watched: Watched, work: Work, all_s: float, shown: Evidence) -> Outcome:
    """Say whether others were served, and whether the work has bounds."""
    slowest, cpu_s = watched.slowest, watched.cpu_s
    during = f"While {count} costly queries were worked on, cached data took"
    if watched.longest_s > LONGEST_S:
        return failed(f"{during} {watched.longest_s:.1f} s.", slowest, shown)
    if cpu_s is not None and cpu_s > MOST_WORK * all_s:
        return failed(
            f"{count} costly queries took {cpu_s:.1f} s of CPU time, as {cpu_s / all_s:.0%} of all {work.operations} "
            f"{work.called} do on this machine: there is no bound on them that helps.",
            shown,
        )
    if watched.longest_s > LEAST_WAITED_S and watched.waited_s > max(MOST_WAITED * all_s, LEAST_WAITED_S):
        return failed(
            f"{during} {watched.waited_s:.1f} s beyond what is usual in all, and all {work.called} take "
            f"{all_s:.1f} s on this machine.",
            slowest,
            shown,
        )
    spent = "" if cpu_s is None else f", and {cpu_s / all_s:.1%} of the CPU time of all {work.called} was spent"
    return passed(f"{during} at most {watched.longest_s:.2f} s{spent}.", shown)


def costly_query(row: TableRow) -> Query:
    """Ask for a name that is in no cache, if the row is about names that do not exist: any below is as good."""
    labels = row.name.labels
    if row.case.denied == "name":
        # The last digits: the whole has to fit into a name.
        labels = (random_label("")[-FRESH_DIGITS:].encode(), *labels[1:])
    return Query(name=dns.name.Name(labels), rtype=row.case.rtype, rd=True, do=True)


def came_since(subject: ResolverSubject, row: TableRow, began_s: float) -> bool:
    """Say whether the row's zone was asked since then, as far as that can be seen.

    What the resolver has in its cache, such as from a run before, is no burden, and says nothing.
    """
    return subject.seen is None or any(one.at_s >= began_s for one in subject.seen.below(row.zone.origin))


def _timed(subject: ResolverSubject) -> tuple[float, Exchange]:
    began = time.monotonic()
    asker = Asker(subject.asker.server, subject.asker.make_socket, WAITS_S)
    exchange = asker.udp(Query(name=UNSIGNED, rtype=RdataType.A, rd=True, payload=None))
    return time.monotonic() - began, exchange


def _watch(subject: ResolverSubject, over: threading.Event, calm_s: float) -> Watched:
    """Ask again and again until it is over."""
    before_s = subject.cpu_s()
    timed = [_timed(subject)]
    while not over.wait(PAUSE_S):
        timed.append(_timed(subject))
    longest_s, slowest = max(timed, key=lambda one: one[0])
    after_s = subject.cpu_s()
    cpu_s = None if before_s is None or after_s is None else after_s - before_s
    return Watched(longest_s, waited_s(timed, calm_s), slowest, cpu_s)


def waited_s(timed: Sequence[tuple[float, Exchange]], calm_s: float) -> float:
    """Add up how much longer than usual others waited."""
    noticeable_s = max(LEAST_DELAY_S, DELAY_MULTIPLE * calm_s)
    late = (took_s - calm_s - sum(WAITS_S[: exchange.tries - 1]) for took_s, exchange in timed)
    return sum(delay_s for delay_s in late if delay_s > noticeable_s)
