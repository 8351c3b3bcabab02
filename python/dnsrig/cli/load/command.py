"""`dnsrig load`: send a query stream to a server and account for every query of it."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from dnsrig.cli.common import chosen_seed, json_option, print_json, seed_option
from dnsrig.cli.load.options import load_options
from dnsrig.cli.load.output import print_report, print_second, print_trial
from dnsrig.cli.load.queries import read_stream, remarks
from dnsrig.cli.load.series import SeriesFiles
from dnsrig.cli.load.settings import in_options, load_settings, search_goal
from dnsrig.cli.load.use import check_use
from dnsrig.cli.sections import SectionedCommand
from dnsrig.cli.streams import say
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.loads import LoadSettings, find_breaking_point, run_load


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
    check_use(click.get_current_context(), options)
    # To hold sessions is to open sessions only, and more.
    options["sessions_only"] |= options["hold_sessions"]
    seed = chosen_seed(seed)
    settings = load_settings(options, seed)
    stream, summary = read_stream(options, seed)
    for sentence in remarks(summary, settings.schedule.get("speed")):
        say(sentence)
    is_live = not as_json and sys.stderr.isatty()
    with SeriesFiles(options, settings) as series:

        def on_second(interval: dict[str, Any]) -> None:
            if is_live:
                print_second(interval)
            series.add(interval)

        try:
            if options["searching"]:
                goal, limits = search_goal(options)
                on_trial = None if as_json else print_trial
                report, interrupted = find_breaking_point(stream, settings, goal, limits, on_trial)
            else:
                report, interrupted = run_load(stream, settings, on_second if is_live or series else None)
        except InputError as error:
            raise in_options(error, options) from None
        report["seed"] = seed
        report["stream"] = summary
        try:
            if as_json:
                print_json(report)
            else:
                print_report(report)
        finally:
            # Neither costs the other: a full disk the report, an output that nobody reads the files.
            series.finish(report)
    series.raise_errors()
    if interrupted:
        raise KeyboardInterrupt
    _check_success(report, settings)


def _check_success(report: Mapping[str, Any], settings: LoadSettings) -> None:
    """Raise SubjectFailedError if the server did nothing of what it was asked for."""
    server = f"{settings.routes[0].server} port {settings.routes[0].port}"
    connections = report["connections"]
    if settings.sessions_only and connections["opened"] == 0:
        raise SubjectFailedError(f"{server} opened none of {connections['tried']} sessions")
    if not settings.sessions_only and report["sent"] == 0:
        raise InputError("the load ended before its first query was due: make it longer (-l), or its rate higher")
    if not settings.sessions_only and report["answered"] == 0:
        raise SubjectFailedError(f"{server} answered none of {report['sent']} queries")
