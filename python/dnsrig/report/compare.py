"""Comparison of two runs: what was set up differently, and which figures differ beyond noise."""

from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.report.cases import CaseResult, group_cases
from dnsrig.report.figures import Figure
from dnsrig.report.statistics import RatioEstimate, unpaired_ratio
from dnsrig.report.verdicts import COMPARED, FALSE_ALARMS, HIGHER, LOWER, UNKNOWN, compared_ratios, judge
from dnsrig.runs.folder import RunFolder

SCHEMA = "dnsrig-comparison/1"
METHOD = (
    "Cases are matched by their id, and a figure's ratio B to A is tested by Welch's t-test on logarithms: "
    "once a figure over all cases, and once a figure and case. Both families of tests are adjusted for their "
    "number by Holm's method, so that two equal runs show any difference at all in at most "
    f"{FALSE_ALARMS * 100:.0f} % of comparisons. Intervals in brackets are of 95 % and not adjusted. "
    "(exact): neither side varies between repetitions, so any difference is one. More: docs/statistics.md."
)


def compare(run_a: RunFolder, run_b: RunFolder) -> dict[str, Any]:
    """Compare run B with run A (schemas/comparison.json). Ratios are B to A."""
    cases_a = {case.case_id: case for case in group_cases(run_a.measurements())}
    cases_b = {case.case_id: case for case in group_cases(run_b.measurements())}
    pairs = [(case, cases_b[name]) for name, case in cases_a.items() if name in cases_b]
    judgement = judge(compared_ratios(pairs, _between_runs))
    return {
        "schema": SCHEMA,
        "a": _describe(run_a),
        "b": _describe(run_b),
        "set_up_differences": set_up_differences(run_a, run_b, pairs),
        "method": METHOD,
        "differs": judgement.differs,
        "overall": [verdict.as_json() for verdict in judgement.overall],
        "cases": [
            {
                **verdict.as_json(),
                "a": _median(cases_a, verdict.case_id, verdict.figure),
                "b": _median(cases_b, verdict.case_id, verdict.figure),
                "tainted": _taints(cases_a, cases_b, verdict.case_id),
            }
            for verdict in judgement.cases
        ],
        "only_in_a": sorted(cases_a.keys() - cases_b.keys()),
        "only_in_b": sorted(cases_b.keys() - cases_a.keys()),
    }


def comparison_text(comparison: Mapping[str, Any]) -> str:
    """Return a comparison in words, for a terminal: the answer first, then what differs, then the rest."""
    lines = [f"A: {comparison['a']['path']}", f"B: {comparison['b']['path']}", ""]
    if not comparison["cases"]:
        lines.append("The runs have no case in common; there is nothing to compare.")
    elif comparison["differs"]:
        lines.append("B differs from A beyond noise.")
    elif all(item["verdict"] == UNKNOWN for item in comparison["cases"]):
        lines.append("Too few repetitions to tell whether B differs from A: two of each case are the least.")
    else:
        lines.append("No difference between A and B beyond noise.")
    set_up = [_difference_text(item) for item in comparison["set_up_differences"]]
    lines += _section("Set up differently:", set_up)
    lines += _section("B against A over all cases:", [item["text"] for item in comparison["overall"]])
    for figure in COMPARED:
        items = [item for item in comparison["cases"] if item["figure"] == figure.key]
        lines += _figure_section(figure, items)
    tainted = {item["case_id"]: item["tainted"] for item in comparison["cases"] if item["tainted"]}
    reasons = [f"{case_id}: {'; '.join(texts)}" for case_id, texts in tainted.items()]
    lines += _section("Tainted cases (marked *):", reasons)
    for side in ("a", "b"):
        missing = comparison[f"only_in_{side}"]
        lines += _section(f"Only in {side.upper()}:", missing)
    return "\n".join([*lines, "", f"Method: {comparison['method']}"])


def set_up_differences(
    run_a: RunFolder, run_b: RunFolder, pairs: Sequence[tuple[CaseResult, CaseResult]]
) -> list[dict[str, Any]]:
    """Return what differs between the runs' settings, machines, inputs and server versions."""
    sides = [_set_up(run) for run in (run_a, run_b)]
    found = [
        {"what": key, "a": sides[0].get(key), "b": sides[1].get(key)}
        for key in dict.fromkeys([*sides[0], *sides[1]])
        if sides[0].get(key) != sides[1].get(key)
    ]
    versions = {(one.server, one.case.get("server_version"), other.case.get("server_version")) for one, other in pairs}
    found.extend(
        {"what": f"version of {server}", "a": ours, "b": theirs}
        for server, ours, theirs in sorted(versions, key=str)
        if ours != theirs
    )
    return found


def _set_up(run: RunFolder) -> dict[str, Any]:
    manifest, host = run.manifest(), run.host()
    return {
        "study": manifest["study"],
        **{f"setting {key}": value for key, value in manifest["settings"].items()},
        "seed": manifest["seed"],
        "dnsrig": manifest["versions"]["dnsrig"],
        "CPU": host["cpu"]["model"],
        "usable CPUs": len(host["cpu"]["usable"]),
        "kernel": host["kernel"],
        **{f"input {item['path']} (SHA-256)": item["sha256"][:16] for item in manifest["inputs"]},
    }


def _between_runs(first: CaseResult, second: CaseResult, figure: Figure) -> RatioEstimate | None:
    return unpaired_ratio(first.values(figure), second.values(figure))


def _describe(run: RunFolder) -> dict[str, Any]:
    manifest = run.manifest()
    return {
        "path": str(run.path),
        "study": manifest["study"],
        "status": run.status,
        "started": manifest["started"],
    }


def _median(cases: Mapping[str, CaseResult], case_id: str | None, figure: str) -> float | None:
    found = None if case_id is None else cases[case_id].estimate(figure, seed=0)
    return None if found is None else found.median


def _taints(cases_a: Mapping[str, CaseResult], cases_b: Mapping[str, CaseResult], case_id: str | None) -> list[str]:
    if case_id is None:
        return []
    sides = (("A", cases_a[case_id]), ("B", cases_b[case_id]))
    return [f"{side}: {taint}" for side, case in sides for taint in case.taints]


def _section(heading: str, entries: Sequence[str]) -> list[str]:
    return ["", heading, *(f"  {entry}" for entry in entries)] if entries else []


def _difference_text(item: Mapping[str, Any]) -> str:
    return f"{item['what']}: {_value_text(item['a'])} in A, {_value_text(item['b'])} in B"


def _value_text(value: object) -> str:
    if value is None:
        return "none"
    return ", ".join(str(entry) for entry in value) if isinstance(value, list) else str(value)


def _figure_section(figure: Figure, items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the cases that differ in one figure, in columns."""
    differing = [item for item in items if item["verdict"] in {HIGHER, LOWER}]
    if not differing:
        return []
    unit = f" [{figure.unit}]" if figure.unit else ""
    heading = f"{figure.title}{unit}, A -> B, differs in {len(differing)} of {len(items)} cases:"
    rows = [
        (
            item["case_id"] + ("*" if item["tainted"] else ""),
            f"{figure.text(item['a'])} -> {figure.text(item['b'])}",
            item["text"].removeprefix(f"{figure.title}: "),
        )
        for item in differing
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return _section(heading, [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows])
