"""`dnsrig traffic stats`: what is in captures."""

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dnsrig import _core
from dnsrig.cli.common import WholeNumber, json_option, path_text
from dnsrig.cli.signals import once_let_pass
from dnsrig.cli.traffic.captures import claim_outputs, file_beside
from dnsrig.cli.traffic.reading import (
    CAPTURE_FILE,
    CaptureProgress,
    CaptureReading,
    of_files,
    read_input_once,
    reading_options,
    warn,
    warn_of_files,
)
from dnsrig.report.traffic.times import NS_PER_S, timestamp

MOST_ITEMS = 100_000_000
READ_TO_ITS_END = "interrupted: what still comes from standard input is read; interrupt again to give up"
OF_READING = {"counted_from": "--count", "names": "--names", "clients": "--clients", "ports": "--port"}
"""Parameters that say how captures are read, and their options."""


@click.command()
@click.argument("files", nargs=-1, required=True, type=CAPTURE_FILE, metavar="FILE...")
@click.option(
    "--merge",
    "is_merge",
    is_flag=True,
    help="FILEs are what --json printed, or that compressed: add them up. With more than 10,000 names, zones or "
    "clients their counts have a stated error, unless --store-all was given with --json.",
)
@click.option("--compare", "is_compare", is_flag=True, help="Compare two FILEs, captures or what --json printed.")
@click.option(
    "--count",
    "counted_from",
    type=click.Choice(("auto", "queries", "answers")),
    default="auto",
    show_default=True,
    help="What requests are. auto: queries, or answers where the beginning of the capture holds no query.",
)
@click.option(
    "--names",
    type=WholeNumber(0, MOST_ITEMS),
    default=4_000_000,
    show_default=True,
    help="Names kept in memory; with more, counts have a stated error. 0 leaves names out.",
)
@click.option(
    "--clients",
    type=WholeNumber(1, MOST_ITEMS),
    default=4_000_000,
    show_default=True,
    help="Clients kept in memory; with more, counts have a stated error.",
)
@click.option(
    "--store-all",
    is_flag=True,
    help="Store all names, zones and clients with the JSON object, not the 10,000 most frequent of each alone, so that "
    "--merge adds them up exactly, too.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Also write a page with the rate over time to this file.",
)
@reading_options
@json_option
def stats(
    files: tuple[Path, ...],
    is_merge: bool,
    is_compare: bool,
    counted_from: str,
    names: int,
    clients: int,
    store_all: bool,
    page: Path | None,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Read the captures FILE... and say what is in them.

    Requests and how many failed, rates and bursts, flags, TCP, types, response codes and opcodes as ISC-2008 has them;
    then latency, sizes, EDNS, clients, names and zones. Several FILEs are read as one, in the order of time. A FILE is
    pcap, pcapng, dnstap or C-DNS, plain or compressed by gzip, zstd or xz, or - for standard input.

    \b
    Example:
      dnsrig traffic stats monday.pcap.zst tuesday.pcap.zst
      dnsrig traffic stats capture.pcap --json > a.json
      dnsrig traffic stats --merge a.json b.json --html both.html
    """
    if is_merge and is_compare:
        raise click.UsageError("give either --merge or --compare.")
    if is_compare and len(files) != 2:
        raise click.UsageError("--compare takes two FILEs.")
    if page is not None and is_compare:
        raise click.UsageError("--html makes a page of one capture: leave --compare out.")
    read_input_once(files)
    if is_merge:
        _refuse_options_of_reading()
    if page is not None:
        claim_outputs([page], files, what="the page", named="file by --html")
    if store_all and (is_merge or is_compare or not as_json):
        raise click.UsageError("--store-all is of captures and --json: give it where the captures are read.")
    options = json.dumps(
        {
            "counted_from": None if counted_from == "auto" else counted_from,
            "names": names,
            "clients": clients,
            "stores_all": store_all,
        }
    )
    reading = CaptureReading(ports, threads)
    # What is printed is imported where it is: starting takes as long as reading 300,000 packets.
    if is_compare:
        from dnsrig.cli.traffic.compare_output import print_comparison  # noqa: PLC0415

        first, second = (_stored(file) or _read([file], reading, options) for file in files)
        for file, found in zip(files, (first, second), strict=True):
            for text in of_clock(found.report["clock"], f"{path_text(file)}: "):
                warn(text)
        print_comparison(first.report, second.report, names=[path_text(file) for file in files], as_json=as_json)
        return
    found = _merged(files) if is_merge else _read(files, reading, options)
    for text in of_clock(found.report["clock"]):
        warn(text)
    if page is not None:
        _write_page(page, found)
    if as_json:
        _print_json(found)
        return
    from dnsrig.cli.traffic.stats_output import parts_of, print_parts  # noqa: PLC0415

    print_parts(parts_of(found.report))


def _refuse_options_of_reading() -> None:
    """Refuse what says how captures are read where none are."""
    context = click.get_current_context()
    for name, option in OF_READING.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{option} is of captures, and --merge adds up what was counted: leave {option} out, or give it where "
                "the captures are read."
            )


class Found:
    """What is in captures: the figures, and what `--merge` adds up."""

    def __init__(self, statistics: _core.TrafficStatistics) -> None:
        self.statistics = statistics
        report: dict[str, Any] = json.loads(statistics.report())
        start_ns = report["start_unix_ns"]
        # The start as people read it.
        self.report = {"start": None if start_ns is None else timestamp(start_ns), **report}


def _read(files: Sequence[Path], reading: CaptureReading, options: str) -> Found:
    """Read captures."""
    is_piped = any(str(file) == "-" for file in files) and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    ended_by_writer = once_let_pass(READ_TO_ITS_END) if is_piped else nullcontext()
    with ended_by_writer, CaptureProgress("stats", files) as progress:
        found = Found(_core.traffic_stats(files, reading.to_json(), options, progress.update))
    warn_of_files(found.report["files"])
    return found


def _merged(files: Sequence[Path]) -> Found:
    """Add up what was stored."""
    with CaptureProgress("stats", files) as progress:
        found = Found(_core.traffic_merge(files, progress.update))
    # Files of several machines may have the same name.
    for text in of_files(found.report["files"]):
        warn(text)
    return found


def _stored(file: Path) -> Found | None:
    """Read what was stored in `file`; None if it is a capture."""
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        if opened.read(1) != b"{":
            return None
    return _merged([file])


def of_clock(clock: Mapping[str, Any] | None, where: str = "") -> Iterator[str]:
    """Say which times are so far from all others that a clock was wrong."""
    if clock is None:
        return
    ends = ((clock["first_unix_ns"], "the first packet"), (clock["last_unix_ns"], "the last packet"))
    times = " and ".join(f"{what} has the time {timestamp(ns)}" for ns, what in ends if ns is not None)
    without = f"{clock['requests']:,} requests and whatever else has such times"
    yield (
        f"{where}{times}, far from all others, as of a clock that was wrong: start, duration and rates are without "
        f"{without if clock['requests'] else 'what has such times, which is no request'}"
    )


def _write_page(page: Path, found: Found) -> None:
    # Drawing takes matplotlib, which the other forms of output do without.
    from dnsrig.cli.traffic.stats_output import parts_of  # noqa: PLC0415
    from dnsrig.report.traffic.page import page_of  # noqa: PLC0415

    runs = found.statistics.rates()
    if found.report["clock"] is not None:
        first_s = found.report["start_unix_ns"] // NS_PER_S
        last_s = first_s + found.report["seconds"]
        runs = [run for run in runs if first_s <= run[0] <= last_s]
    with file_beside(page) as file:
        warnings = (*of_files(found.report["files"]), *of_clock(found.report["clock"]))
        file.write_text(page_of(found.report, runs, list(parts_of(found.report)), warnings), encoding="utf-8")


def _print_json(found: Found) -> None:
    """Print one object; what is merged stands in one line of it as it is, since it may be very long."""
    report = json.dumps(found.report, indent=2).removesuffix("\n}")
    sys.stdout.writelines((report, ',\n  "state": ', found.statistics.state(), "\n}\n"))
    # Written now: at exit a full disk would be noticed too late to be said.
    sys.stdout.flush()
