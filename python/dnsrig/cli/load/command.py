"""`dnsrig load`: send a query stream to a server and account for every query of it."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import chosen_seed, json_option, print_json, seed_option
from dnsrig.cli.load.options import load_options
from dnsrig.cli.load.output import print_report, print_second, print_trial
from dnsrig.cli.load.queries import Options, read_stream
from dnsrig.cli.load.settings import in_options, load_settings, search_goal
from dnsrig.cli.sections import SectionedCommand
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.loads import LoadSettings, find_breaking_point, run_load
from dnsrig.report.load_series import FORMS, LoadContext, SeriesWriter, open_series


@click.command(cls=SectionedCommand)
@load_options
@seed_option
@json_option
def load(*, seed: int | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401 (click passes what options.py names)
    """Send queries to a server and account for every one of them.

    Flags that dnsperf has are dnsperf's. Without a schedule it is a closed loop: the next query leaves when one is
    answered or times out. With -Q, --poisson, --ramp, --steps or --replay queries leave when they are due, whatever the
    answers do, and latency counts from that time. Ctrl-C ends a load early and prints what there is.

    \b
    Examples:
      dnsrig load -p 5300 -d queries.txt -l 10 -D
      dnsrig load -p 5300 -d queries.txt -l 10 -Q 20000 --json
      dnsrig load -p 5300 --generate '{az:4}.com' -m tcp -c 20 -q 200 -l 10
      dnsrig load -p 8853 -d queries.txt -m dot -c 50 --queries-per-session 1
      dnsrig load --mix udp:5300=0.9,dot:8853=0.1 -d queries.txt -Q 20000 -l 30
      dnsrig load -p 5300 --replay traffic.pcap --speed 2
      dnsrig load -p 5300 -d queries.txt --search
    """
    seed = chosen_seed(seed)
    settings = load_settings(options, seed)
    stream, summary = read_stream(options, seed)
    if summary.get("skipped"):
        click.echo(f"left out {summary['skipped']} bad lines", err=True)
    is_live = not as_json and sys.stderr.isatty()
    with contextlib.ExitStack() as stack:
        series = [stack.enter_context(writer) for writer in _series(options, settings)]

        def on_second(interval: dict[str, Any]) -> None:
            if is_live:
                print_second(interval)
            for writer in series:
                writer.add(interval)

        try:
            if options["searching"]:
                goal, limits = search_goal(options)
                on_trial = None if as_json else print_trial
                report, interrupted = find_breaking_point(stream, settings, goal, limits, on_trial)
            else:
                report, interrupted = run_load(stream, settings, on_second if is_live or series else None)
        except InputError as error:
            raise in_options(error) from None
        report["seed"] = seed
        report["stream"] = summary
        if as_json:
            print_json(report)
        else:
            print_report(report)
        # Last, so that a full disk costs nobody the report.
        for writer in series:
            writer.finish(report)
    if interrupted:
        raise KeyboardInterrupt
    if report["answered"] == 0 and not settings.sessions_only:
        server = settings.routes[0]
        raise SubjectFailedError(f"{server.server} port {server.port} answered none of {report['sent']} queries")


def _series(options: Options, settings: LoadSettings) -> Iterator[SeriesWriter]:
    """Open the files that get each second's figures."""
    asked = [(Path(options[form]), form) for form in FORMS if options[form]]
    if asked and options["searching"]:
        raise click.UsageError(f"--{asked[0][1]} goes with one load, not with the many of --search")
    if len({path for path, _ in asked}) < len(asked):
        raise click.UsageError("--jsonl, --csv and --parquet each need a file of their own")
    context = LoadContext(("dnsrig", *sys.argv[1:]), settings)
    for path, form in asked:
        yield open_series(path, form, context)
