"""What the report's sections read from a run's cases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU_TIME, SIGNATURES_MADE, SIGNING_CPU, SIGNING_RATE, WALL, Figure, ratio_text
from dnsrig.report.identical import paired_in_run
from dnsrig.report.sections import Findings
from dnsrig.report.statistics import Estimate, estimate
from dnsrig.report.tables import EN_DASH, Cell, Table
from dnsrig.studies.signing.cases import BOUND, NO_KEY, bound_kind
from dnsrig.studies.signing.settings import SigningSettings

MISSING = Cell("-")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table of signers: its label, the kind and key of its cases."""

    label: str
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class CaseFinder:
    """Finds cases and prints their figures."""

    findings: Findings
    settings: SigningSettings

    @property
    def signers(self) -> list[str]:
        """Labels of the signers, without what measures signing alone."""
        return [server for server in self.findings.grid.servers if server != BOUND]

    def title(self, server: str) -> str:
        """Return the words for a signer."""
        return self.findings.grid.titles[server]

    def case(self, server: str, kind: str, key: str = NO_KEY) -> CaseResult | None:
        """Return a signer's case of a kind and key."""
        for case in self.findings.grid.cases:
            if case.server == server and case.case.get("kind") == kind and case.case.get("key") == key:
                return case
        return None

    def estimate(self, case: CaseResult | None, figure: Figure) -> Estimate | None:
        """Return the median of a figure with its interval."""
        values = [] if case is None else case.values(figure)
        return estimate(values, self.findings.grid.seed) if values else None

    def median(self, server: str, line: Line, figure: Figure) -> float | None:
        """Return the median of a figure of the case of a signer in a line."""
        found = self.estimate(self.case(server, line.kind, line.key), figure)
        return None if found is None else found.median

    def cell(self, case: CaseResult | None, figure: Figure) -> Cell:
        """Print a figure of a case with its interval."""
        found = self.estimate(case, figure)
        if case is None or found is None:
            return MISSING
        return Cell(figure.text(found.median), _interval(found, figure.text), self.findings.notes.mark(case))

    def ratio_cell(self, of: CaseResult | None, to: CaseResult | None, figure: Figure) -> Cell:
        """Print a figure's ratio, repetition by repetition, with its interval."""
        ratio = None if of is None or to is None else paired_in_run(of, to, figure)
        if of is None or to is None or ratio is None:
            return MISSING
        ends = "" if ratio.low is None or ratio.high is None else _range(ratio.low, ratio.high)
        marks = ",".join(letter for letter, _ in self.findings.notes.reasons([of, to]))
        return Cell(ratio_text(ratio.ratio), ends, marks)

    def sum_cell(self, values: Sequence[float], text: Callable[[float], str], cases: Sequence[CaseResult]) -> Cell:
        """Print the median of values, each reckoned from one repetition of all of `cases`, with its interval."""
        if not values:
            return MISSING
        found = estimate(values, self.findings.grid.seed)
        marks = ",".join(letter for letter, _ in self.findings.notes.reasons(cases))
        return Cell(text(found.median), _interval(found, text), marks)

    @property
    def disturbed(self) -> bool:
        """Whether other programs used the machine in every case; CPU time then tells more than time."""
        return self.findings.notes.all_disturbed

    @property
    def main(self) -> Figure:
        """What the signers are compared by: time, or CPU time on a disturbed machine."""
        return CPU_TIME if self.disturbed else WALL

    @property
    def times(self) -> tuple[Figure, Figure]:
        """Time and CPU time, the one that tells more first."""
        return (CPU_TIME, WALL) if self.disturbed else (WALL, CPU_TIME)

    def bound(self, key: str, threads: int) -> CaseResult | None:
        """Return the case of signing alone with a key on a number of threads."""
        return self.case(BOUND, bound_kind(threads), key)

    def limits(self, case: CaseResult, figure: Figure, threads: int) -> dict[int, float]:
        """Return the time or CPU time, in seconds, of a case's signatures alone, by repetition."""
        bound = self.bound(str(case.case["key"]), threads)
        if bound is None:
            return {}
        if figure is CPU_TIME:
            seconds = {number: cpu_us / 1e6 for number, cpu_us in bound.by_repetition(SIGNING_CPU).items()}
        else:
            seconds = {number: 1 / rate for number, rate in bound.by_repetition(SIGNING_RATE).items()}
        made = case.by_repetition(SIGNATURES_MADE)
        return {number: made[number] * each for number, each in seconds.items() if made.get(number)}

    def limit_cell(self, case: CaseResult | None, figure: Figure, threads: int) -> Cell:
        """Print by how many times a case exceeds what its signatures alone take, repetition by repetition."""
        limits = {} if case is None else self.limits(case, figure, threads)
        bound = None if case is None else self.bound(str(case.case["key"]), threads)
        if case is None or bound is None or not limits:
            return MISSING
        values = case.by_repetition(figure)
        ratios = [values[number] / limit for number, limit in limits.items() if number in values]
        return self.sum_cell(ratios, ratio_text, [case, bound])

    def by_signer(self, title: str, first: str, lines: Sequence[Line], figure: Figure) -> Table:
        """Lay a figure out with a line for each `Line` and a column for each signer."""
        rows = [
            (Cell(line.label), *(self.cell(self.case(server, line.kind, line.key), figure) for server in self.signers))
            for line in lines
        ]
        return self.table(title, (first, *map(self.title, self.signers)), rows)

    def table(self, title: str, header: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> Table:
        """Make a table that explains the letters in its cells."""
        used = {letter for row in rows for cell in row for letter in cell.mark.split(",")}
        reasons = self.findings.notes.reasons(self.findings.grid.cases)
        return Table(title, tuple(header), tuple(rows), notes=tuple(note for note in reasons if note[0] in used))

    def least(self, lines: Sequence[Line], figure: Figure, what: str) -> str:
        """Say in which lines which signer has the least of a figure beyond noise; "" where there is one signer only.

        A signer has the least where the ratio of every other's to its own, repetition by repetition, is above 1 with
        the whole of its interval. On a machine that was disturbed in every case nothing is ranked.
        """
        if self.disturbed:
            return ""
        found: dict[str, list[str]] = {}
        undecided, tainted = [], []
        for line in lines:
            cases = [case for server in self.signers if (case := self.case(server, line.kind, line.key)) is not None]
            if len(cases) < 2:
                continue
            if any(case.taints for case in cases):
                tainted.append(line.label)
            least = next((case for case in cases if _is_least(case, cases, figure)), None)
            if least is None:
                undecided.append(line.label)
            else:
                found.setdefault(least.server, []).append(line.label)
        sentences = []
        if found:
            parts = [f"{self.title(server)} ({', '.join(labels)})" for server, labels in found.items()]
            sentences.append(f"Least {what}: {'; '.join(parts)}.")
        if undecided:
            sentences.append(f"No signer is least in {what} beyond noise: {', '.join(undecided)}.")
        if tainted:
            sentences.append(f"Of these, some cases are tainted: {', '.join(tainted)}.")
        return " ".join(sentences)


def _is_least(case: CaseResult, cases: Sequence[CaseResult], figure: Figure) -> bool:
    ratios = [paired_in_run(other, case, figure) for other in cases if other is not case]
    return all(ratio is not None and ratio.low is not None and ratio.low > 1 for ratio in ratios)


def _interval(found: Estimate, text: Callable[[float], str]) -> str:
    if found.low is None or found.high is None:
        return ""
    low, high = text(found.low), text(found.high)
    return "" if low == high else f"{low}{EN_DASH}{high}"


def _range(low: float, high: float) -> str:
    return f"{ratio_text(low)}{EN_DASH}{ratio_text(high)}"
