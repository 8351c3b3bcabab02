"""Builds a run's report: report.html, report.md, summary.json and the pictures."""

import re
import shlex
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from dnsrig.report.answer_tables import as_tables
from dnsrig.report.cases import CaseResult, group_cases, shared_taints
from dnsrig.report.figures import QPS, RESPONSE_BYTES
from dnsrig.report.grid import Grid
from dnsrig.report.latency import Percentiles, core_percentiles
from dnsrig.report.layout import StudyText
from dnsrig.report.notes import Notes
from dnsrig.report.pictures.gallery import Picture, draw_pictures, save_drawings
from dnsrig.report.sections import Findings, Section
from dnsrig.report.summary import ordered_cases, summarise
from dnsrig.report.tables import case_table, ratio_table, server_table, size_table
from dnsrig.report.verdicts import percent
from dnsrig.report.work import work_table
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_json, write_text

STATISTICS = (
    "Figures are medians over repetitions. With ten repetitions or more, a 95 % interval is a percentile "
    "bootstrap of the median; with fewer it is Student's t on logarithms, because the bootstrap of so few "
    "values claims too much.",
    "Ratios between cases compare repetition with repetition (paired t on the logarithms of ratios), so that "
    "a drift of the machine cancels. Their intervals are of 95 % each, not adjusted for their number.",
    "Tainted figures stay in the medians and are marked: the reason says why to doubt them, not that they "
    "are wrong. More: docs/statistics.md.",
)
"""How a report's figures were made, in sentences."""
PICTURES = "DNSRIG_PICTURES"
"""Environment variable: with 0 reports have no pictures, which take seconds."""
_CODE = re.compile("`([^`]+)`")


def build_report(
    run: RunFolder, text: StudyText, percentiles_of: Percentiles = core_percentiles, *, draws: bool = True
) -> Path:
    """Write the run's report, anew if there is one, and return the path of report.html.

    `percentiles_of` merges latency histograms. Unless it `draws`, the report says that it has no pictures, and how to
    have them. Raises DiskFullError when there is no room.
    """
    summary = summarise(run, text)
    grid = Grid(text, ordered_cases(group_cases(run.measurements()), text), int(run.manifest()["seed"]))
    notes = Notes(shared=frozenset(shared_taints(grid.cases)))
    notes.reasons(grid.cases)
    sections = None if text.sections is None else text.sections(Findings(grid, notes, run.manifest()["facts"]))
    sentences, answer_tables = as_tables(summary["answers"])
    context = {
        "text": text,
        "sentences": sentences,
        "answer_tables": answer_tables,
        "summary": summary,
        "manifest": run.manifest(),
        "command": shlex.join(run.manifest()["argv"]),
        "notes": notes.reasons(grid.cases),
        "pictures": _pictures(run, grid, notes, sections, percentiles_of) if draws else {},
        "undrawn": "" if draws else f"Without pictures ({PICTURES}=0); dnsrig report {run.path} draws them.",
        "sections": sections,
        "machine": machine_facts(run.host()),
        "servers": server_facts(grid),
        "checks": checks(grid.cases, text.subject),
        "bottlenecks": [
            (grid.case_label(case), case.bottleneck, case.evidence)
            for case in grid.cases
            if not case.is_work and case.bottleneck != "server"
        ],
        "statistics": STATISTICS,
        "case_table": (work_table if any(case.is_work for case in grid.cases) else case_table)(grid, notes),
        **(_tables(grid, notes) if sections is None else {}),
    }
    write_json(run.path / "summary.json", summary)
    write_text(run.path / "report.md", _environment(html=False).get_template("report.md.j2").render(context))
    page = run.path / "report.html"
    write_text(page, _environment(html=True).get_template("report.html.j2").render(context))
    return page


def _pictures(
    run: RunFolder, grid: Grid, notes: Notes, sections: Sequence[Section] | None, percentiles_of: Percentiles
) -> dict[str, Picture]:
    if sections is None:
        return draw_pictures(run, grid, notes, percentiles_of)
    return save_drawings(run, [drawing for section in sections for drawing in section.drawings])


def machine_facts(host: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the machine in words, as (what, value)."""
    cpu = host["cpu"]
    mtus = ", ".join(f"{name} {mtu}" for name, mtu in host["mtu_bytes"].items())
    buffers = ", ".join(
        f"{name.removeprefix('net.core.')} {value}"
        for name, value in host["sysctl"].items()
        if value is not None and name.startswith(("net.core.rmem", "net.core.wmem"))
    )
    load = host["load_average"]
    memory = host["memory_bytes"]
    facts = [
        ("CPU", cpu["model"]),
        ("CPUs", f"{cpu['online']} online, {len(cpu['usable'])} usable, SMT {'on' if cpu['smt'] else 'off'}"),
        ("Frequency governor", cpu["governor"]),
        ("Memory", None if memory is None else f"{memory / 2**30:.1f} GiB"),
        ("Virtualisation", host["virtualisation"] or "none seen"),
        ("Kernel", f"{host['kernel']} ({host['architecture']}), clock source {host['clocksource']}"),
        ("Distribution", host["distribution"]),
        ("Control groups", None if host["cgroup_version"] is None else f"version {host['cgroup_version']}"),
        ("MTU", mtus),
        ("Socket buffers", buffers),
        ("Load average at the start", ", ".join(f"{value:.2f}" for value in load) if load else None),
    ]
    return [(name, value) for name, value in facts if value]


def server_facts(grid: Grid) -> list[tuple[str, str, list[str]]]:
    """Return each server's title, version and remarks."""
    found = []
    for server in grid.servers:
        cases = [case for case in grid.cases if case.server == server]
        remarks = dict.fromkeys(text for case in cases for text in case.texts("remarks"))
        versions = dict.fromkeys(str(case.case.get("server_version", "")) for case in cases)
        found.append((grid.titles[server], ", ".join(versions), list(remarks)))
    return found


def checks(cases: list[CaseResult], subject: str = "server") -> list[str]:
    """Return what the run knows about its own trustworthiness, in sentences."""
    measurements = [item for case in cases for item in case.measurements]
    found = []
    monitors = [item["monitor"] for item in measurements if "monitor" in item]
    if monitors:
        cost = max(item["cost_share"] for item in monitors)
        late_ms = max(item["late_p99_ns"] for item in monitors) / 1e6
        found.append(
            f"The monitor used at most {percent(cost)} % of one CPU; in the worst repetition, one sample in "
            f"a hundred was {late_ms:.2f} ms late or more."
        )
    named = {str(item["server"].get("cpu_source") or "") for item in measurements}
    sources = sorted(named - {""})
    if sources:
        found.append(f"{subject.capitalize()} CPU time comes from: {', '.join(sources)}.")
    machines = [item["machine"] for item in measurements if "machine" in item and "load" in item]
    if machines:
        errors = sum(item.get("udp_receive_errors", 0) for item in machines)
        steal = max(item.get("steal_share", 0.0) for item in machines)
        found.append(
            f"UDP receive errors on the machine during all loads: {errors:,}. "
            f"CPU time taken away by a hypervisor (steal): at most {percent(steal)} %."
        )
    bottlenecks = {case.bottleneck for case in cases if not case.is_work}
    if bottlenecks == {"server"}:
        found.append("The server was the bottleneck in every case.")
    return found


def _tables(grid: Grid, notes: Notes) -> dict[str, Any]:
    published = grid.text.published
    has_ratios = grid.baseline is not None and len(grid.rows) > 1
    return {
        "server_tables": [server_table(grid, server, notes) for server in grid.servers],
        "rate_ratio_table": ratio_table(
            grid,
            [table for table in published if table.figure == QPS.key],
            notes,
            figure_key=QPS.key,
            title=f"Rate as a ratio to {grid.text.baseline_label} (1: as fast; below 1: slower)",
        )
        if has_ratios
        else None,
        "size_table": size_table(grid, [table for table in published if table.figure == RESPONSE_BYTES.key], notes),
    }


def _environment(*, html: bool) -> jinja2.Environment:
    folder = resources.files("dnsrig.report").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["svg"] = Markup
    environment.filters["cell"] = markdown_cell
    environment.filters["prose"] = prose
    environment.filters["repetitions"] = _repetitions
    return environment


def prose(text: str) -> Markup:
    """Write words for a page: what stands between backticks, as in the Markdown report, is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _repetitions(failure: Mapping[str, Any]) -> str:
    """Say in which repetitions, counted from 1, measurements failed; nothing of cases that never can be measured."""
    numbers = [str(number + 1) for number in failure.get("repetitions", ())]
    return f" (repetition{'s' if len(numbers) > 1 else ''} {', '.join(numbers)})" if numbers else ""


def markdown_cell(text: str) -> str:
    """Keep a table cell of Markdown in one piece."""
    return text.replace("|", "\\|").replace("\n", " ")
