"""N-rate: many queries in a short time."""

from dataclasses import dataclass

from dnsrig.items.path._families import judge_each
from dnsrig.verification.asker import Asker
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

QUERIES, GAP_S = 200, 0.004
SLOW_QUERIES, SLOW_GAP_S = 20, 0.1
WAIT_S = 1.5
ROUNDS, PAUSE_S = 2, 1.0
MOST_LOST, MORE_LOST = 0.1, 0.2
"""Shares: of what may be lost anyhow, and by how much the loss of fast queries must be above that of slow ones."""
RATE = round(1 / GAP_S)

ITEM = Item(
    id="N-rate",
    role="path",
    group="Changes",
    requirement=f"{QUERIES} queries by UDP, {RATE} a second, come through the path as single ones do.",
    references=("RFC 8906 section 4",),
    severity=Severity.WARNING,
    consequence=(
        "A resolver behind the path loses queries as soon as some of its clients open pages: names fail at busy times, "
        "and nobody finds out why."
    ),
    procedure=(
        f"By each version of IP {QUERIES} addresses are asked for once, {GAP_S * 1e3:g} ms apart. Where more than a "
        f"tenth is not answered, twice in a row, {SLOW_QUERIES} are asked for {SLOW_GAP_S * 1e3:g} ms apart, and the "
        "fast ones without the path: only what is lost by the rate and by the path is a failure."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +tries=1   # some hundreds of times a second",),
    faults=("path-limits-rate",),
    runs_alone=True,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """Queries that were sent in a row, and how many were answered."""

    sent: int
    answered: int

    @property
    def lost(self) -> float:
        """The share without response."""
        return 1 - self.answered / self.sent

    def __str__(self) -> str:
        return f"{self.answered} of {self.sent}"


def check(subject: PathSubject) -> Outcome:
    """Ask fast, and slowly where that fails."""
    found = judge_each(subject, _check)
    if isinstance(found, Outcome):
        return found
    return passed(f"{RATE} queries a second are answered: {', '.join(one.reason for one in found)}.")


def _check(subject: PathSubject, family: Family) -> Outcome:
    """Judge one version of IP; where it passes, a clause says how many are answered."""
    if shut := subject.shut(family):
        return inconclusive(shut)
    way = subject.way(family)
    rows: list[_Row] = []
    for _ in range(ROUNDS):
        rows.append(_row(way.asker, QUERIES, GAP_S))
        if rows[-1].lost <= MOST_LOST:
            return passed(f"{rows[-1]} by {VERSIONS[family]}")
        pause(PAUSE_S)
    slow = _row(way.asker, SLOW_QUERIES, SLOW_GAP_S)
    return _judged(min(rows, key=lambda row: row.lost), slow, _row(way.direct, QUERIES, GAP_S))


def _row(asker: Asker, queries: int, gap_s: float) -> _Row:
    asked = asker.udp_in_a_row([plain_query() for _ in range(queries)], gap_s, WAIT_S)
    return _Row(queries, sum(one.message is not None for one in asked))


def _judged(fast: _Row, slow: _Row, direct: _Row) -> Outcome:
    said = f"Of queries at {RATE} a second {fast} are answered, at {round(1 / SLOW_GAP_S)} a second {slow}"
    if direct.lost > MOST_LOST:
        return inconclusive(f"{said}; without the path {direct} at {RATE} a second, which is too few to tell.")
    if fast.lost < slow.lost + MORE_LOST:
        return inconclusive(f"{said}: messages are lost at any rate.")
    return failed(f"{said}; without the path {direct} at {RATE} a second.")
