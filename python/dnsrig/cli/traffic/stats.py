"""`dnsrig traffic stats`: what is in captures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import WholeNumber, json_option, print_json
from dnsrig.cli.traffic.captures import claim_outputs, file_beside
from dnsrig.cli.traffic.compare_output import print_comparison
from dnsrig.cli.traffic.reading import CAPTURE_FILE, CaptureReading, reading_options, warn_of_files, work
from dnsrig.cli.traffic.stats_output import parts_of, print_parts
from dnsrig.errors import InputError
from dnsrig.report.traffic.times import timestamp

STORED_FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)
MOST_ITEMS = 100_000_000


@click.command()
@click.argument("files", nargs=-1, required=True, type=CAPTURE_FILE, metavar="FILE...")
@click.option("--merge", "is_merge", is_flag=True, help="FILEs are what --json printed: add them up.")
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
    if page is not None:
        claim_outputs([page], files, named="file by --html")
    options = json.dumps(
        {"counted_from": None if counted_from == "auto" else counted_from, "names": names, "clients": clients}
    )
    reading = CaptureReading(ports, threads)
    if is_compare:
        found = [_stored(file) or _read([file], reading, options) for file in files]
        print_comparison(*found, names=[str(file) for file in files], as_json=as_json)
        return
    found_all = _merged(files) if is_merge else _read(files, reading, options)
    if page is not None:
        # Drawing takes matplotlib, which the other forms of output do without.
        from dnsrig.report.traffic.page import page_of  # noqa: PLC0415

        with file_beside(page) as file:
            file.write_text(page_of(found_all, list(parts_of(found_all))), encoding="utf-8")
    if as_json:
        print_json(found_all)
        return
    print_parts(parts_of(found_all))


def _read(files: Sequence[Path], reading: CaptureReading, options: str) -> dict[str, Any]:
    """Read captures."""
    found = work(
        "stats", files, lambda on_progress: _core.traffic_stats(files, reading.to_json(), options, on_progress)
    )
    warn_of_files(found["files"])
    return _with_start(found)


def _merged(files: Sequence[Path]) -> dict[str, Any]:
    """Add up what was stored."""
    found: dict[str, Any] = json.loads(_core.traffic_merge([(str(file), _text(file)) for file in files]))
    return _with_start(found)


def _stored(file: Path) -> dict[str, Any] | None:
    """Read what was stored in `file`; None if it is a capture."""
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        if opened.read(1) != b"{":
            return None
    return _merged([file])


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: holds no statistics as 'dnsrig traffic stats --json' prints them") from error


def _with_start(found: Mapping[str, Any]) -> dict[str, Any]:
    """Add the start as people read it."""
    start_ns = found["start_unix_ns"]
    return {"start": None if start_ns is None else timestamp(start_ns), **found}
