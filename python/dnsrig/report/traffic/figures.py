"""The figures of a capture that two captures are compared by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RCODE = "rcode "


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both captures; a share is from 0 to 1."""

    name: str
    first: float | None
    second: float | None
    is_share: bool

    @property
    def ratio(self) -> float | None:
        """Give the second figure as a multiple of the first; None where there is none."""
        return None if not self.first or self.second is None else self.second / self.first


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def figures_of(found: Mapping[str, Any]) -> Iterator[tuple[str, float | None, bool]]:
    """Give the figures of one capture: name, value, whether it is a share."""
    requests = found["requests"]
    has_answers = bool(found["answers"]["count"])
    yield "requests", requests, False
    yield "seconds", found["seconds"], False
    for key in ("mean", "p95", "max"):
        yield f"rate {key} (q/s)", found["rate_qps"][key], False
    yield "failed", _ratio(found["failed"], requests) if has_answers else None, True
    if found["counted_from"] == "queries":
        yield "unanswered", _ratio(found["answers"]["unanswered"], requests) if has_answers else None, True
    for flag, count in found["flags"].items():
        yield flag.upper(), _ratio(count, requests), True
    yield "AA of answers", _ratio(found["aa"], found["answers"]["count"]), True
    yield "TC of answers", _ratio(found["sizes"]["truncated"], found["answers"]["count"]), True
    yield "EDNS", _ratio(found["edns"]["requests"], requests), True
    yield "TCP packets", found["tcp"]["packet_share"], True
    for group in ("transports", "families"):
        for name, count in found[group].items():
            yield f"over {name}", _ratio(count, requests), True
    for row in found["types"]:
        prefix = "" if row["class"] in ("IN", "other") else f"{row['class']} "
        yield f"type {prefix}{row['type']}", _ratio(row["count"], requests), True
    for name, count in found["rcodes"].items():
        yield f"{RCODE}{name}", _ratio(count, found["answers"]["count"]), True
    for key in ("p50", "p90", "p99"):
        yield f"latency {key} (ns)", (found["latency_ns"] or {}).get(key), False
    yield "mean query (octets)", found["sizes"]["query_mean"], False
    yield "mean answer (octets)", found["sizes"]["answer_mean"], False
    yield "clients", found["clients"]["count"], False
    names = found["names"]
    if names is not None:
        yield "names", names["count"], False
        yield "Zipf exponent", names["zipf_exponent"], False
        yield "unknown TLD", _ratio(names["unknown_tld"], requests), True
        yield "random label", _ratio(names["random"], requests), True


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Figure]:
    """Put the figures of both captures side by side.

    What one has not is None for figures and for shares of answers where there are none, and 0 for other shares.
    """
    both = [{name: (value, is_share) for name, value, is_share in figures_of(found)} for found in (first, second)]
    names = list(dict.fromkeys(name for figures in both for name in figures))
    result = []
    for name in names:
        is_share = next(figures[name][1] for figures in both if name in figures)
        one, other = (
            figures[name][0] if name in figures else _absent(name, found, is_share=is_share)
            for figures, found in zip(both, (first, second), strict=True)
        )
        result.append(Figure(name, one, other, is_share))
    return result


def _absent(name: str, found: Mapping[str, Any], *, is_share: bool) -> float | None:
    """Give what stands for a figure that a capture does not have."""
    is_known = is_share and (not name.startswith(RCODE) or found["answers"]["count"])
    return 0.0 if is_known else None
