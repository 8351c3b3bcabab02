"""Means over the seconds of a load."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

Whole = TypeVar("Whole", bound=float | None)


def mean_by_second(by_second: Mapping[str, Sequence[Any]], key: str, whole: Whole) -> float | Whole:
    """Give the mean of a series by second, each value counting for as long as the time since the one before.

    That ends when queries are no longer sent: what is waited for afterwards, up to a timeout if one is lost, would make
    every rate less. `whole`, over all that was observed, is given where there is no such series, or no second.
    """
    times = (0.0, *by_second.get("time_s", ()))
    lengths = [now - before for before, now in pairwise(times)]
    values = by_second.get(key, ())
    if not values or len(values) != len(lengths) or sum(lengths) <= 0:
        return whole
    return float(sum(value * length for value, length in zip(values, lengths, strict=True)) / sum(lengths))
