"""`dnsrig report` and `dnsrig compare`."""

from pathlib import Path

import click

from dnsrig.cli.common import json_option, print_json
from dnsrig.report.compare import compare as compare_runs
from dnsrig.report.compare import comparison_text
from dnsrig.runs.folder import RunFolder
from dnsrig.studies import conduct
from dnsrig.studies.functionality.compare import are_both, compare_verdicts, verdict_comparison_text

RUN = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("run", type=RUN)
@json_option
def report(run: Path, as_json: bool) -> None:
    """Build the report of a stored RUN anew: report.html, report.md, summary.json and the pictures.

    \b
    Example:
      dnsrig report runs/20261121-214500-denial-cost
    """
    page, summary = conduct.report(run)
    if as_json:
        print_json(summary)
    else:
        click.echo(f"report: {page}")


@click.command()
@click.argument("first", type=RUN)
@click.argument("second", type=RUN)
@json_option
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Say what differs beyond noise between the runs FIRST and SECOND, case by case.

    Of two runs of the study functionality it says which verdicts differ.

    \b
    Example:
      dnsrig compare runs/one-thread runs/two-threads
    """
    runs = RunFolder.open(first), RunFolder.open(second)
    is_of_verdicts = are_both(*runs)
    result = compare_verdicts(*runs) if is_of_verdicts else compare_runs(*runs)
    if as_json:
        print_json(result)
    else:
        click.echo(verdict_comparison_text(result) if is_of_verdicts else comparison_text(result))
