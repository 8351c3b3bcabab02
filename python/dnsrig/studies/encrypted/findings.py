"""What the report's sections read from a run's cases."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU, FIGURES, QPS, Figure, Measurement, short_number
from dnsrig.report.identical import paired_in_run
from dnsrig.report.notes import AT_LEAST, rate_is_lower_bound
from dnsrig.report.sections import Findings
from dnsrig.report.statistics import Estimate, RatioEstimate, estimate
from dnsrig.report.tables import EN_DASH, Cell, interval_text
from dnsrig.studies.encrypted.settings import EncryptedSettings

MISSING = Cell("-")
US_PER_S = 1e6


def _beside(measurement: Measurement, key: str) -> float | None:
    value = measurement.get("beside", {}).get(key)
    return float(value) if isinstance(value, int | float) else None


BESIDE_QPS = Figure("beside_qps", "DoT queries per second", "qps", lambda item: _beside(item, "qps"), short_number)
SERVER_SHARE = Figure(
    "server_cpu_share",
    "Server CPU",
    "CPUs",
    lambda item: float(item["server"]["cpu_share"]),
    lambda value: f"{value:.2f}",
)


PER_CPU = Figure(
    "answered_per_server_cpu_s",
    "Answered queries per second of server CPU",
    "queries",
    lambda item: item["load"]["answered"] / item["server"]["cpu_us"] * US_PER_S if item["server"]["cpu_us"] else None,
    short_number,
)


@dataclass(frozen=True, slots=True)
class CaseFinder:
    """Finds cases of the main setup, or of another certificate or number of threads, and prints their figures."""

    findings: Findings
    settings: EncryptedSettings

    def case(
        self, server: str, kind: str, *, certificate: str | None = None, threads: int | None = None
    ) -> CaseResult | None:
        """Return a server's case of a kind; with the first certificate and number of threads unless told."""
        wanted = {"none", certificate or self.settings.certificates[0]}
        for case in self.findings.grid.cases:
            if (
                case.server == server
                and case.case.get("kind") == kind
                and case.case.get("certificate") in wanted
                and case.case.get("server_threads") == (threads or self.settings.threads[0])
            ):
                return case
        return None

    def estimate(self, case: CaseResult, figure: Figure) -> Estimate | None:
        """Return the median of a figure with its interval."""
        values = case.values(figure)
        return estimate(values, self.findings.grid.seed) if values else None

    def label_cell(self, label: str, case: CaseResult) -> Cell:
        """Print the label of a row that is all of one case, with the letters of its notes."""
        return Cell(label, mark=self.findings.notes.mark(case))

    def cell(self, case: CaseResult | None, figure: Figure, *, marked: bool = True) -> Cell:
        """Print a figure of a case, with its interval, and with the letters of its notes unless its row has them."""
        found = None if case is None else self.estimate(case, figure)
        if case is None or found is None:
            return MISSING
        at_least = f"{AT_LEAST} " if figure is QPS and rate_is_lower_bound(case) else ""
        detail = interval_text(found, figure.key) if figure.key in FIGURES else interval(found, figure.text)
        mark = self.findings.notes.mark(case) if marked else ""
        return Cell(f"{at_least}{figure.text(found.median)}", detail, mark)

    def plain_cell(self, case: CaseResult, figure: Figure) -> Cell:
        """Print the median of a figure that hardly varies, such as octets."""
        found = self.estimate(case, figure)
        return MISSING if found is None else Cell(figure.text(found.median))

    def by_cpu(self, case: CaseResult | None) -> float | None:
        """Reckon how many queries a second one CPU would answer if the server did nothing else."""
        found = None if case is None else self.estimate(case, CPU)
        return US_PER_S / found.median if found is not None and found.median else None

    def ratio(self, of: CaseResult | None, to: CaseResult | None, figure: Figure) -> RatioEstimate | None:
        """Compare a figure of two cases, repetition by repetition."""
        return None if of is None or to is None else paired_in_run(of, to, figure)

    def orders_cell(self, of: CaseResult | None, to: CaseResult | None, figure: Figure, *, marked: bool = True) -> Cell:
        """Print by how many orders of magnitude the figure of `of` is above that of `to`."""
        ratio = self.ratio(of, to, figure)
        if of is None or to is None or ratio is None:
            return MISSING
        detail = "" if ratio.low is None or ratio.high is None else f"{orders(ratio.low)}{EN_DASH}{orders(ratio.high)}"
        marks = ",".join(letter for letter, _ in self.findings.notes.reasons([of, to])) if marked else ""
        return Cell(orders(ratio.ratio), detail, marks)


def orders(ratio: float) -> str:
    """Print a ratio's orders of magnitude, with one decimal."""
    text = f"{math.log10(ratio):.1f}"
    return "0.0" if text == "-0.0" else text


def interval(found: Estimate, text: Callable[[float], str]) -> str:
    """Print an estimate's interval with `text` for each end; "" without one or without width."""
    if found.low is None or found.high is None:
        return ""
    low, high = text(found.low), text(found.high)
    return "" if low == high else f"{low}{EN_DASH}{high}"
