"""The summary of a run: what `dnsrig run --json` prints and `summary.json` holds (schemas/summary.json)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.monitor import usage
from dnsrig.report.cases import CaseResult, group_cases, is_disturbed, servers_of, shared_taints
from dnsrig.report.claims import compare_published
from dnsrig.report.figures import RESOLVER_FIGURES, SESSION_FIGURES, WALL, WORK_FIGURES, Measurement
from dnsrig.report.identical import identical_pairs
from dnsrig.report.layout import StudyText
from dnsrig.report.sentences import answers
from dnsrig.report.statistics import FEWEST_FOR_CONFIDENCE, Estimate
from dnsrig.report.verdicts import percent
from dnsrig.report.warming import warming_summary
from dnsrig.runs.folder import RunFolder

SCHEMA = "dnsrig-summary/1"
_SIGNIFICANT_DIGITS = 8
FEWEST_NAMES = 50
"""Fewer different names in a stream are worth a warning."""
NOTABLE_STEAL = 0.01
"""Share of CPU time taken away by a hypervisor from which the report warns."""
NOTABLE_OTHER_CPU = 0.15
"""CPUs used by others than server and generator from which the report warns."""


def summarise(run: RunFolder, text: StudyText | None = None) -> dict[str, Any]:
    """Return the summary of `run`; with the study's `text`, also the answers to its questions."""
    manifest = run.manifest()
    cases = ordered_cases(group_cases(run.measurements()), text)
    seed = int(manifest["seed"])
    found = [] if text is None else [item.as_json() for item in answers(text, cases, server_titles(cases))]
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "study": manifest["study"],
        "run": run.path.name,
        "status": run.status,
        "reason": manifest.get("reason"),
        "answers": found,
        "cases": [case_summary(case, seed) for case in cases],
        "not_measured": manifest["failures"],
        "identical_servers": [pair.as_json() for pair in identical_pairs(cases)],
        "warnings": warnings(run, cases),
        "taint_warnings": taint_warnings(cases),
        "unanswered": "" if text is None or found else text.unanswered,
    }
    if text is not None and text.claims:
        summary["published_figures"] = [item.as_json() for item in compare_published(text, cases)]
    rounded: dict[str, Any] = _rounded(summary)
    return rounded


def case_summary(case: CaseResult, seed: int) -> dict[str, Any]:
    """Return one entry of the summary's `cases`: medians over the repetitions, and totals of counters."""
    if case.is_work:
        return work_summary(case, seed)
    keys = (
        "qps",
        "response_bytes_mean",
        "query_bytes_mean",
        "server_cpu_us_per_query",
        "latency_p50_ns",
        "latency_p99_ns",
        "server_rss_bytes_max",
    )
    estimates = {key: case.estimate(key, seed) for key in keys}
    medians = {key: None if item is None else item.median for key, item in estimates.items()}
    return {
        "case_id": case.case_id,
        **case.case,
        "qps": _estimate_json(estimates["qps"]),
        "response_bytes_mean": medians["response_bytes_mean"],
        "query_bytes_mean": medians["query_bytes_mean"],
        "server_cpu_us_per_query": medians["server_cpu_us_per_query"],
        "server_rss_bytes_max": medians["server_rss_bytes_max"],
        "latency_ns": {"p50": medians["latency_p50_ns"], "p99": medians["latency_p99_ns"]},
        "ci95": {key: _interval(item) for key, item in estimates.items() if key != "qps"},
        "answered": case.total("answered"),
        "lost": case.lost,
        "truncated": case.total("truncated"),
        "rcodes": case.rcodes,
        "bottleneck": case.bottleneck,
        "tainted": [str(taint) for taint in case.taints],
        "remarks": case.texts("remarks"),
        **_session_summary(case, seed),
        **_resolver_summary(case, seed),
        **warming_summary(case),
    }


def work_summary(case: CaseResult, seed: int) -> dict[str, Any]:
    """Return the entry of a case in which a program was run to its end: medians over the repetitions."""
    keys = ("cpu_s", "server_rss_bytes_max", *(figure.key for figure in WORK_FIGURES[2:]))
    estimates = {key: case.estimate(key, seed) for key in keys}
    return {
        "case_id": case.case_id,
        **case.case,
        "wall_s": _estimate_json(case.estimate(WALL.key, seed)),
        **{key: None if item is None else item.median for key, item in estimates.items()},
        "ci95": {key: _interval(item) for key, item in estimates.items() if item is not None},
        "verified_by": sorted({str(item["work"].get("verified_by")) for item in case.measurements} - {"None"}),
        "tainted": [str(taint) for taint in case.taints],
        "remarks": case.texts("remarks"),
    }


def _session_summary(case: CaseResult, seed: int) -> dict[str, Any]:
    """Return what only cases whose loads open sessions have: medians, and totals of connections."""
    counts: Counter[str] = Counter()
    for item in case.measurements:
        counts.update(item["load"].get("connections", {}))
    if not counts["tried"]:
        return {}
    found = {figure.key: case.estimate(figure.key, seed) for figure in SESSION_FIGURES}
    return {"connections": dict(counts), **{key: item and item.median for key, item in found.items()}}


def _resolver_summary(case: CaseResult, seed: int) -> dict[str, Any]:
    """Return the medians that only cases of resolvers have, against the simulated Internet."""
    if not any("resolver" in item for item in case.measurements):
        return {}
    found = {figure.key: case.estimate(figure.key, seed) for figure in RESOLVER_FIGURES}
    return {"resolver": {key: item and _estimate_json(item) for key, item in found.items()}}


def ordered_cases(cases: Sequence[CaseResult], text: StudyText | None) -> list[CaseResult]:
    """Return the cases in the order of the study's tables: by server, row, column."""
    if text is None:
        return list(cases)
    servers = servers_of(cases)
    rows = [str(value) for value in text.rows.ordered(case.case.get(text.rows.key) for case in cases)]
    columns = [str(value) for value in text.columns.ordered(case.case.get(text.columns.key) for case in cases)]

    def place(case: CaseResult) -> tuple[int, int, int, str]:
        row, column = str(case.case.get(text.rows.key)), str(case.case.get(text.columns.key))
        return servers.index(case.server), rows.index(row), columns.index(column), case.case_id

    return sorted(cases, key=place)


def server_titles(cases: Sequence[CaseResult]) -> dict[str, str]:
    """Return the words for each server's label: the title that the study recorded in `case`, if any."""
    titles = {}
    for case in cases:
        title = str(case.case.get("server_title") or case.program)
        instance = case.server.removeprefix(case.program)
        titles[case.server] = f"{title} ({instance})" if instance else title
    return titles


def warnings(run: RunFolder, cases: Sequence[CaseResult]) -> list[str]:
    """Return what a reader must know before believing any figure of this run."""
    found = []
    if run.status != "complete":
        reason = run.manifest().get("reason")
        found.append(f"This run is {run.status}{f' ({reason})' if reason else ''}: cases may be missing.")
    if run.manifest()["settings"].get("quick"):
        found.append("This was a quick run: few short repetitions, wide intervals. Do not quote its figures.")
    found.extend(str(text) for text in run.host().get("warnings", ()))
    counts = sorted({case.n for case in cases})
    if len(counts) > 1:
        found.append(f"The cases have between {counts[0]} and {counts[-1]} repetitions.")
    if counts and counts[0] < FEWEST_FOR_CONFIDENCE:
        found.append(
            f"Fewer than {FEWEST_FOR_CONFIDENCE} repetitions of a case ({counts[0]}): its intervals rest on "
            "an assumed distribution of the noise more than on data."
        )
    machines = [item.get("machine", {}) for case in cases for item in case.measurements]
    steal = max((machine.get("steal_share", 0.0) for machine in machines), default=0.0)
    if steal > NOTABLE_STEAL:
        found.append(f"The hypervisor took up to {percent(steal)} % of the CPU time away (steal) during a load.")
    others = max((other_cpu_share(item) for case in cases for item in case.measurements), default=0.0)
    if others > NOTABLE_OTHER_CPU:
        found.append(
            f"Other programs used up to {others:.1f} CPUs while one was measured; times suffer more than CPU."
            if any(case.is_work for case in cases)
            else f"Other programs used up to {others:.1f} CPUs while a load ran; rates and latencies suffer from that "
            "more than CPU per query."
        )
    streams = run.manifest().get("facts", {}).get("inputs", {}).get("streams", {})
    for name, facts in streams.items():
        found.extend(_stream_warnings(name, facts))
    return [*found, *taint_warnings(cases)]


def taint_warnings(cases: Sequence[CaseResult]) -> list[str]:
    """Say how many cases are tainted; a reason that all share is said here and nowhere else in a report."""
    shared = shared_taints(cases)
    found = []
    for reason in shared:
        measured = [item for case in cases for item in case.measurements]
        tainted = sum(1 for item in measured if reason in item["tainted"])
        found.append(
            f"All {len(cases)} cases are tainted, {tainted:,} of {len(measured):,} measurements: {reason}. No "
            "figure is marked for that."
        )
    if is_disturbed(shared):
        found.append("So nothing is ranked, and CPU time stands before time. For more than that: a quieter machine.")
    marked = sum(1 for case in cases if any(taint.reason not in shared for taint in case.taints))
    if marked:
        besides = "tainted for other reasons" if shared else "tainted"
        verb = "is" if marked == 1 else "are"
        found.append(f"{marked} of {len(cases)} cases {verb} {besides}; each is marked where its figures stand.")
    return found


def _stream_warnings(name: str, facts: Mapping[str, Any]) -> list[str]:
    """Say what is odd about a query stream."""
    found = []
    if facts["unique_names"] < FEWEST_NAMES:
        found.append(
            f"Stream {name} has only {facts['unique_names']} different names: it measures how a server answers the "
            "same questions again."
        )
    if facts.get("outside_zone"):
        found.append(f"Stream {name}: {facts['outside_zone']} queries of the log are for other zones, so left out.")
    return found


def other_cpu_share(measurement: Measurement) -> float:
    """Return how many CPUs others than server and generator kept busy during a load."""
    machine, server, generator = (measurement.get(name, {}) for name in ("machine", "server", "generator"))
    return usage.other_cpu_share(machine, server, generator)


def _estimate_json(item: Estimate | None) -> dict[str, Any]:
    if item is None:
        return {"median": None, "ci95": None, "n": 0}
    return {"median": item.median, "ci95": _interval(item), "n": item.n}


def _interval(item: Estimate | None) -> list[float] | None:
    return None if item is None or item.low is None or item.high is None else [item.low, item.high]


def _rounded(value: object) -> Any:  # noqa: ANN401
    """Cut floats to eight digits, so that a summary doesn't change with a library's last bit."""
    if isinstance(value, float):
        return float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value
