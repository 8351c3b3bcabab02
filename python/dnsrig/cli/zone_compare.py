"""`dnsrig zone compare`: what differs between two versions of a zone."""

import contextlib
from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json, print_table
from dnsrig.cli.zone_reading import MOST, ZONE_FILE, Reading, reading_options, warn, work
from dnsrig.wording import counted


@click.command()
@click.argument("a", type=ZONE_FILE)
@click.argument("b", type=ZONE_FILE)
@click.option("--ignore-rrsig-times", is_flag=True, help="Leave inception, expiration and value of signatures out.")
@click.option("--ignore-serial", is_flag=True, help="Leave the serial of the SOA record out.")
@click.option("--ignore-ttl", is_flag=True, help="Leave TTLs out, those in signatures too.")
@click.option("--most", type=MOST, default=1000, show_default=True, help="Differences to print; all are counted.")
@reading_options
@json_option
def compare(
    a: Path,
    b: Path,
    ignore_rrsig_times: bool,
    ignore_serial: bool,
    ignore_ttl: bool,
    most: int,
    origin: str | None,
    memory: int | None,
    threads: int | None,
    as_json: bool,
) -> int:
    """Compare the zones A and B record by record, whatever their order.

    Records that only A has are printed after -, those that only B has after +, in canonical order, NSEC3 records
    last. Letter case of names means nothing. Each RRset counts with one TTL, the lowest, as servers have it.

    Exit code 0 if they are the same, 1 if they differ.

    \b
    Example:
      dnsrig zone compare yesterday.db today.db
      dnsrig zone compare bind.signed knot.signed --ignore-rrsig-times --ignore-serial
    """
    _refuse_one_stream(a, b)
    reading = Reading(origin, memory, threads)
    found = work(
        "compare",
        [a, b],
        reading,
        lambda reading: _core.zone_compare(
            a,
            b,
            reading,
            most=most,
            ignore_rrsig_times=ignore_rrsig_times,
            ignore_serial=ignore_serial,
            ignore_ttl=ignore_ttl,
        ),
    )
    differ = found["removed"] + found["added"]
    if as_json:
        print_json({"a": str(a), "b": str(b), **found})
        return 1 if differ else 0
    warn(found)
    for difference in found["differences"]:
        click.echo(f"{difference['sign']} {difference['record']}")
    if differ > len(found["differences"]):
        click.echo(f"{differ - len(found['differences']):,} more differences; --most prints more of them")
    click.echo(f"zone {found['zone']}: {counted(found['same'], 'record')} the same, ", nl=False)
    click.echo(f"{found['removed']:,} only in {a}, {found['added']:,} only in {b}")
    if differ:
        rows = [(name, f"{one['removed']:,}", f"{one['added']:,}") for name, one in found["types"].items()]
        print_table(("type", f"only in {a}", f"only in {b}"), rows, right=(1, 2))
    return 1 if differ else 0


def _refuse_one_stream(a: Path, b: Path) -> None:
    """Refuse one pipe or terminal as both zones: what is read as one is missing in the other, and both wait."""
    hint = "cannot be read twice: name two files, or give one zone by another pipe"
    inputs = [str(file) == "-" for file in (a, b)]
    if all(inputs):
        raise click.UsageError(f"standard input {hint}")
    files = [Path("/dev/stdin") if is_input else file for file, is_input in zip((a, b), inputs, strict=True)]
    with contextlib.suppress(OSError):
        if not files[0].is_file() and files[0].samefile(files[1]):
            raise click.UsageError(f"{b if inputs[0] else a} {hint}")
