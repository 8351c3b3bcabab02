"""Latency percentiles of a case, merged over its repetitions from their HDR histograms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dnsrig.report.cases import CaseResult

Percentiles = Callable[[list[str], list[float]], list[int]]
"""Merges HDR histograms (base64) and gives the latency in ns at each percentile."""

_DECADES = 4
_POINTS_A_DECADE = 16


@dataclass(frozen=True, slots=True)
class LatencyCurve:
    """Latencies in ns at percentiles of all queries sent; lost ones count as slower than any answered."""

    percentiles: tuple[float, ...]
    latencies_ns: tuple[int, ...]
    lost_share: float


def core_percentiles(histograms: list[str], percentiles: list[float]) -> list[int]:
    """Merge histograms by the Rust core."""
    from dnsrig import _core  # noqa: PLC0415 (the pictures' tests run without the compiled core)

    found: list[int] = _core.latency_percentiles(histograms, percentiles)
    return found


def latency_curve(case: CaseResult, percentiles_of: Percentiles) -> LatencyCurve | None:
    """Return the case's curve from its median on; None without histograms.

    A percentile is among all queries sent, so that time-outs are not dropped in silence: the curve ends where
    the share of lost queries begins, or where fewer than one query would be left above.
    """
    loads = [item["load"] for item in case.measurements]
    histograms = [str(load["latency_histogram"]) for load in loads if load.get("latency_histogram")]
    answered, sent = case.total("answered"), case.total("sent")
    if not histograms or not answered:
        return None
    wanted = [share for share in _grid(sent) if share < 100 * answered / sent]
    among_answered = [share * sent / answered for share in wanted]
    latencies = percentiles_of(histograms, among_answered)
    return LatencyCurve(tuple(wanted), tuple(latencies), 1 - answered / sent)


def _grid(queries: int) -> Sequence[float]:
    """Return percentiles from 50 up, evenly spaced in log(100 / (100 - p)), as far as `queries` can tell."""
    tails = [0.5 / 10 ** (step / _POINTS_A_DECADE) for step in range(_DECADES * _POINTS_A_DECADE)]
    exact = [0.1, 0.01, 0.001, 0.0001]
    return [100 * (1 - tail) for tail in sorted({*tails, *exact}, reverse=True) if tail * queries >= 1]
