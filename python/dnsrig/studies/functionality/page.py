"""Builds a run's report: report.html, report.md and summary.json."""

import shlex
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2

from dnsrig.report.build import machine_facts, markdown_cell
from dnsrig.report.layout import StudyText
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_json, write_text
from dnsrig.studies.functionality.found import findings
from dnsrig.studies.functionality.summary import ROLE_WORDS, summarise_run
from dnsrig.studies.functionality.support import support
from dnsrig.studies.functionality.words import SUPPORT_NOTE
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.verification import LABELS, ORDER

CELLS: Mapping[Verdict, str] = {
    Verdict.FAIL: "FAIL",
    Verdict.INCONCLUSIVE: "?",
    Verdict.PASS_BY_TCP: "by TCP",
    Verdict.PASS: "pass",
    Verdict.NOT_APPLICABLE: "-",
}
"""Verdicts in cells of wide tables."""


def build_page(run: RunFolder, text: StudyText) -> Path:
    """Write the run's report, anew if there is one, and return the path of report.html.

    Raises DiskFullError when there is no room.
    """
    summary = summarise_run(run)
    manifest = run.manifest()
    context: dict[str, Any] = {
        "text": text,
        "summary": summary,
        "manifest": manifest,
        "command": shlex.join(manifest["argv"]),
        "roles": findings(run),
        "role_words": ROLE_WORDS,
        "support": support,
        "support_note": SUPPORT_NOTE,
        "labels": LABELS,
        "order": ORDER,
        "cells": CELLS,
        "machine": machine_facts(run.host()),
    }
    write_json(run.path / "summary.json", summary)
    write_text(run.path / "report.md", _environment(html=False).get_template("report.md.j2").render(context))
    page = run.path / "report.html"
    write_text(page, _environment(html=True).get_template("report.html.j2").render(context))
    return page


def _environment(*, html: bool) -> jinja2.Environment:
    folder = resources.files("dnsrig.studies.functionality").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["cell"] = markdown_cell
    environment.filters["heading"] = lambda text: text[:1].upper() + text[1:]
    return environment
