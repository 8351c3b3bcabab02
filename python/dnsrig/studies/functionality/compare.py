"""Comparison of two runs of the study functionality: in which verdicts they differ."""

from collections.abc import Mapping
from typing import Any

from dnsrig.runs.folder import RunFolder
from dnsrig.studies.functionality.found import Target, read_targets

SCHEMA = "dnsrig-verdict-comparison/1"
STUDY = "functionality"


def are_both(first: RunFolder, second: RunFolder) -> bool:
    """Say whether both runs are of this study."""
    return all(run.manifest()["study"] == STUDY for run in (first, second))


def compare_verdicts(first: RunFolder, second: RunFolder) -> dict[str, Any]:
    """Compare run B with run A, target by target (verdict-comparison.json)."""
    a, b = ({target.case_id: target for target in read_targets(run)} for run in (first, second))
    common = [(target, b[case_id]) for case_id, target in a.items() if case_id in b]
    items = [entry for pair in common for entry in _differences(*pair)]
    return {
        "schema": SCHEMA,
        "a": str(first.path),
        "b": str(second.path),
        "differs": bool(items),
        "targets": len(common),
        "versions": [
            {"case_id": one.case_id, "a": one.version, "b": other.version}
            for one, other in common
            if one.version != other.version
        ],
        "items": items,
        "only_in_a": sorted(a.keys() - b.keys()),
        "only_in_b": sorted(b.keys() - a.keys()),
    }


def verdict_comparison_text(comparison: Mapping[str, Any]) -> str:
    """Give a comparison in words, for a terminal."""
    lines = [f"A: {comparison['a']}", f"B: {comparison['b']}", ""]
    if not comparison["targets"]:
        lines.append("The runs have no target in common; there is nothing to compare.")
    elif comparison["differs"]:
        lines.append("Verdicts differ (A, then B):")
        lines += [f"  {item['case_id']:<30} {item['id']:<24} {_told(item)}" for item in comparison["items"]]
    else:
        lines.append(f"No verdict differs in {comparison['targets']} common targets.")
    lines += [f"  {row['case_id']}: version {row['a']}, then {row['b']}" for row in comparison["versions"]]
    for key in ("only_in_a", "only_in_b"):
        if comparison[key]:
            lines.append(f"Only in {key[-1].upper()}: {', '.join(comparison[key])}")
    return "\n".join(lines)


def _differences(one: Target, other: Target) -> list[dict[str, str | None]]:
    ids = dict.fromkeys([*one.items, *other.items])
    pairs = [(item_id, _verdict(one, item_id), _verdict(other, item_id)) for item_id in ids]
    return [{"case_id": one.case_id, "id": item_id, "a": a, "b": b} for item_id, a, b in pairs if a != b]


def _verdict(target: Target, item_id: str) -> str | None:
    item = target.items.get(item_id)
    return None if item is None else str(item["verdict"])


def _told(item: Mapping[str, str | None]) -> str:
    return " -> ".join("not run" if value is None else value.replace("_", " ") for value in (item["a"], item["b"]))
