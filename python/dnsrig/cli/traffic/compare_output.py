"""What `dnsrig traffic stats --compare` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from dnsrig.cli.common import print_json, print_table
from dnsrig.report.traffic.figures import Figure, compare

LEAST_SHARE = 0.001
"""Shares that are smaller in both captures are left out of the table."""


def print_comparison(
    first: Mapping[str, Any], second: Mapping[str, Any], *, names: Sequence[str], as_json: bool
) -> None:
    """Print the figures of two captures side by side."""
    figures = compare(first, second)
    if as_json:
        rows = [{**asdict(figure), "ratio": figure.ratio} for figure in figures]
        clocks = {"first_clock": first["clock"], "second_clock": second["clock"]}
        print_json({"first": names[0], "second": names[1], **clocks, "figures": rows})
        return
    shown = [
        figure
        for figure in figures
        if not figure.is_share or max(_zero(figure.first), _zero(figure.second)) >= LEAST_SHARE
    ]
    click.echo(f"1: {names[0]}, requests are {first['counted_from']}")
    click.echo(f"2: {names[1]}, requests are {second['counted_from']}")
    click.echo()
    print_table(("figure", "1", "2", "2 / 1"), [_row(figure) for figure in shown], right=(1, 2, 3))


def _zero(value: float | None) -> float:
    return value or 0.0


def _row(figure: Figure) -> tuple[str, str, str, str]:
    ratio = figure.ratio
    return (
        figure.name,
        _value(figure, figure.first),
        _value(figure, figure.second),
        "-" if ratio is None else f"{ratio:.3f}",
    )


def _value(figure: Figure, value: float | None) -> str:
    if value is None:
        return "-"
    if figure.is_share:
        return f"{100 * value:.2f} %"
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:,.3f}"
