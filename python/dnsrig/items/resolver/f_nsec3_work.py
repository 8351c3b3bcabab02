"""F-nsec3-work: what proofs of NSEC3 with iterations cost."""

import time
from collections.abc import Sequence

from dns.rdatatype import RdataType

from dnsrig.items.resolver._burden import costly_query
from dnsrig.items.resolver._work import gets_calm, hash_s
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.tree.zones_costly import DEEP_LABELS, SALT_OCTETS, WORK_ITERATIONS
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, Verdict, failed, inconclusive, passed

MOST_HASHES = 4000
"""As much CPU time as so many of the rig's own hashes take is no bound. PowerDNS Recursor, whose bound is 600 hashes,
takes 1,300 at most, as one of a resolver's takes twice the rig's; BIND and Unbound, which hash all, 7,000 and more."""
MULTIPLE = 1.8
"""Less than so many times the CPU time of a name without iterations is no matter."""
WAITS_S = (3.0,)
"""Unbound 1.17 takes 2 s, or forgets the client; what it has computed till then is enough."""
CANDIDATES = DEEP_LABELS + 1
"""Names that may be the closest encloser, below the apex."""
BUSY = "The resolver is busy with what was asked before, so that CPU time tells nothing."
ITEM = Item(
    id="F-nsec3-work",
    role="resolver",
    group="Cost of validation",
    requirement="A name of many labels in a zone with NSEC3 iterations does not take hundreds of hashes a label.",
    references=("CVE-2023-50868", "RFC 9276 section 3.2", "RFC 5155 section 8.3"),
    severity=Severity.NOTICE,
    consequence=(
        "A stream of such names, which anybody may ask for, takes a multiple of the CPU time of others, so that fewer "
        "of them keep the resolver busy."
    ),
    procedure=(
        f"Names of more than {DEEP_LABELS} labels are asked for in zones with "
        f"{WORK_ITERATIONS[0]}, {WORK_ITERATIONS[1]} and {WORK_ITERATIONS[2]} NSEC3 iterations and a salt of "
        f"{SALT_OCTETS} octets. What CPU time those with the most iterations take beyond those without is less than "
        f"{MOST_HASHES} hashes take on this machine, of the {CANDIDATES * WORK_ITERATIONS[-1]} of all candidates for "
        f"the closest encloser, or they take less than {MULTIPLE:g} times as much. Those between are shown."
    ),
    dig=("dig @{server} -p {port} x.x.x.deep0.work-150.nsec3. A +dnssec   # and look at the resolver's CPU time",),
    needs=("upstream", "validates", "cpu"),
    runs_alone=True,
    faults=("hashes-all-candidates", "hashes-without-bounds"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Compare CPU times; what fails is measured once more, as other work on the machine may double them for once."""
    outcome = _compared(subject)
    return outcome if outcome.verdict is not Verdict.FAIL else _compared(subject)


def _compared(subject: ResolverSubject) -> Outcome:
    rows = subject.rows(ITEM.id)
    zones = [[row for row in rows if row.zone.iterations == iterations] for iterations in WORK_ITERATIONS]
    if not all(zones):
        return inconclusive("The tree has no question for this.")
    spent_s, said, one_s = [], [], 0.0
    for some in zones:
        if not gets_calm(subject):
            return inconclusive(BUSY)
        taken_s, exchange, has_come = _spent(subject, some)
        iterations = some[0].zone.iterations
        if not has_come:
            return inconclusive(
                f"No query below {some[0].zone.name} came to the tree, so nothing was measured.", exchange
            )
        if exchange.message is None and subject.silence():
            return inconclusive("The resolver does not answer any more.", exchange)
        hashes, one_s = CANDIDATES * iterations, hash_s()
        spent_s.append(taken_s)
        said.append(
            f"{iterations} iterations: {taken_s * 1e3:.1f} ms a name; "
            f"{hashes} hashes take {one_s * hashes * 1e3:.1f} ms on this machine"
        )
    shown = Evidence("CPU time", "\n".join(said))
    base_s, most_s = spent_s[0], spent_s[-1]
    if most_s - base_s >= MOST_HASHES * one_s and most_s >= MULTIPLE * base_s:
        return failed(
            f"With {WORK_ITERATIONS[-1]} iterations a name of {CANDIDATES + 2} labels takes {most_s * 1e3:.1f} ms of "
            f"CPU time, without any {base_s * 1e3:.1f} ms: all candidates for the closest encloser are hashed.",
            exchange,
            shown,
        )
    return passed("Names of many labels take little more CPU time with NSEC3 iterations than without.", shown)


def _spent(subject: ResolverSubject, rows: Sequence[TableRow]) -> tuple[float, Exchange, bool]:
    """Ask for all at once; give the CPU time of one, in seconds, a response, and whether any was asked for upstream."""
    asker = Asker(subject.asker.server, subject.asker.make_socket, WAITS_S)
    queries = [costly_query(row) for row in rows]
    # What any name in the zone needs, its keys above all, is no part of it.
    origin = rows[0].zone.origin
    asker.ask(Query(name=origin, rtype=RdataType.SOA, rd=True, do=True))
    before_s, began_s = subject.cpu_s() or 0.0, time.monotonic()
    with thread_pool(len(queries), "work") as pool:
        exchanges = list(pool.map(asker.ask, queries))
    taken_s = (subject.cpu_s() or 0.0) - before_s
    has_come = subject.seen is None or any(
        one.at_s >= began_s and one.name != origin for one in subject.seen.below(origin)
    )
    return taken_s / len(rows), exchanges[0], has_come
