"""Which pictures a report has, drawn, saved as SVG and PNG, and made ready to stand in a page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU, QPS, RESPONSE_BYTES
from dnsrig.report.grid import Grid
from dnsrig.report.latency import Percentiles, latency_curve
from dnsrig.report.notes import Notes
from dnsrig.report.pictures.bars import PublishedGroup, draw_bars
from dnsrig.report.pictures.curves import draw_curves
from dnsrig.report.pictures.latency import draw_latency
from dnsrig.report.pictures.ratios import draw_ratios
from dnsrig.report.pictures.series import Line, draw_series, interval_rates
from dnsrig.report.pictures.style import GRID, INK, style
from dnsrig.report.sections import Drawing
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_text, write_whole

_PNG_DPI = 200


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn picture: `name` of its files, its caption, `svg` to stand in a page in its colours."""

    name: str
    caption: str
    svg: str
    has_letters: bool


def draw_pictures(run: RunFolder, grid: Grid, notes: Notes, percentiles_of: Percentiles) -> dict[str, Picture]:
    """Draw all pictures that the run has data for, and save them in its `pictures` folder."""
    return save_drawings(run, _plan(run, grid, notes, percentiles_of))


def save_drawings(run: RunFolder, drawings: Iterable[Drawing]) -> dict[str, Picture]:
    """Draw these pictures, and save them in the run's `pictures` folder."""
    folder = run.path / "pictures"
    folder.mkdir(exist_ok=True)
    return {item.name: _save(folder, item) for item in drawings}


def _plan(run: RunFolder, grid: Grid, notes: Notes, percentiles_of: Percentiles) -> Iterable[Drawing]:
    whiskers = (
        "Bars are medians, whiskers 95 % intervals (an arrow: it goes on); letters refer to the notes on tainted cases."
    )
    if grid.text.rows.numeric:
        yield Drawing(
            "curves",
            f"CPU time and rate; {grid.text.rows.title} on the horizontal axis. Whiskers are 95 % intervals.",
            lambda: draw_curves(grid, notes),
            has_letters=True,
        )
    else:
        yield Drawing(
            "cpu",
            f"Server CPU time per answered query. {whiskers}",
            lambda: draw_bars(grid, CPU.key, notes),
            has_letters=True,
        )
        yield Drawing(
            "rate",
            f"Answered queries per second. {whiskers} \N{GREATER-THAN OR EQUAL TO}: the generator was the "
            "bottleneck, the server could have answered more.",
            lambda: draw_bars(grid, QPS.key, notes),
            has_letters=True,
        )
        sizes = tuple(
            PublishedGroup(f"{table.label}\n(published)", table.values)
            for table in grid.text.published
            if table.figure == RESPONSE_BYTES.key
        )
        yield Drawing(
            "sizes",
            "Mean response size. Open bars are published figures.",
            lambda: draw_bars(grid, RESPONSE_BYTES.key, notes, sizes),
            has_letters=True,
        )
    rates = tuple(table for table in grid.text.published if table.figure == QPS.key)
    published_columns = {column for table in rates for _, column in table.values}
    if published_columns & set(grid.columns) and grid.baseline is not None and len(grid.rows) > 1:
        yield Drawing(
            "ratios",
            f"Rate as a ratio to {grid.text.baseline_label}: published (open) and measured "
            "(filled, with 95 % intervals).",
            lambda: draw_ratios(grid, QPS.key, rates, notes),
            has_letters=True,
        )
    curves = {case.case_id: latency_curve(case, percentiles_of) for case in grid.cases}
    known = {case_id: curve for case_id, curve in curves.items() if curve is not None}
    if known:
        yield Drawing(
            "latency",
            "Latency by percentile of all queries sent, all repetitions together. The horizontal axis gives "
            "each further nine the same room; a curve ends where the share of lost queries begins.",
            lambda: draw_latency(grid, known),
        )
    if any(line for case in grid.cases for line in interval_rates(case) if line[0]):
        yield Drawing(
            "rate-over-time",
            "Answered queries per second over time, a line a repetition.",
            lambda: draw_series(grid, "answered qps", interval_rates),
        )
    shares = {case.case_id: _cpu_shares(run, case) for case in grid.cases}
    if any(shares.values()):
        yield Drawing(
            "cpu-over-time",
            "CPU that the server used over time (1: one CPU fully busy), a line a repetition.",
            lambda: draw_series(grid, "server CPU", lambda case: shares[case.case_id]),
        )


def _cpu_shares(run: RunFolder, case: CaseResult) -> list[Line]:
    """Return the server's CPU share over time of every repetition, from the monitor's samples."""
    found: list[Line] = []
    for item in case.measurements:
        table = run.series(case.case_id, int(item["repetition"]))
        if table is None:
            continue
        rows = table.filter(pc.equal(table["subject"], "server")).select(["time_ns", "cpu_share"]).to_pylist()
        if len(rows) > 1:
            began_ns = rows[0]["time_ns"]
            # The first sample has no one before it to take a share from.
            found.append(
                (
                    [(row["time_ns"] - began_ns) / 1e9 for row in rows[1:]],
                    [float(row["cpu_share"] or 0.0) for row in rows[1:]],
                )
            )
    return found


def _save(folder: Path, drawing: Drawing) -> Picture:
    name, caption = drawing.name, drawing.caption
    with style(salt=name):
        figure = drawing.draw()
        # The layout holds for both formats; finding it is most of the work. With an engine, even one that does nothing,
        # each format would be drawn twice.
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": "dnsrig"})
        svg = text.getvalue()
        write_whole(
            folder / f"{name}.png",
            lambda path: figure.savefig(path, format="png", dpi=_PNG_DPI, metadata={"Software": "dnsrig"}),
        )
    write_text(folder / f"{name}.svg", svg_for_file(svg))
    return Picture(name, caption, svg_for_page(svg, name, caption), drawing.has_letters)


def svg_for_file(svg: str) -> str:
    """Return an SVG with a white ground, for viewers with a dark one."""
    return re.sub(r"(<svg [^>]*>)", r'\1<rect width="100%" height="100%" fill="white"/>', svg, count=1)


def svg_for_page(svg: str, name: str, caption: str) -> str:
    """Return an SVG to stand in a page: own ids, the page's colours and width, a label for screen readers."""
    body = svg[svg.index("<svg ") :]
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(xlink:href="#|url\(#)', rf"\1{name}-", body)
    body = body.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", body, count=1)
    label = caption.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return body.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
