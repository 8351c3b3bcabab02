"""`dnsrig zone sort`: canonical order."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json
from dnsrig.cli.streams import report_on
from dnsrig.cli.zone_reading import (
    OUTPUT_FILE,
    ZONE_FILE,
    Reading,
    claim_output,
    file_name,
    reading_options,
    warn,
    work,
)


@click.command()
@click.argument("file", type=ZONE_FILE)
@click.option("-f", "--output", type=OUTPUT_FILE, default="-", help="The file to write.  [default: standard output]")
@reading_options
@json_option
def sort(file: Path, output: Path, origin: str | None, memory: int | None, threads: int | None, as_json: bool) -> None:
    """Write the zone FILE in canonical order (RFC 4034 section 6.1).

    One record a line, absolute names, no directives; the SOA record comes first, the records of an NSEC3 chain come
    last. Duplicates are dropped and each RRset gets one TTL, the lowest. FILE may be larger than memory, and may be -
    for standard input.

    \b
    Example:
      dnsrig zone sort example.db -f sorted.db
      dnsrig zone sort huge.zone -f sorted.zone --memory 1G
    """
    claim_output(output, as_json)
    reading = Reading(origin, memory, threads)
    done = work("sort", [file], reading, lambda reading: _core.zone_sort(file, output, reading))
    with report_on(f"{file_name(output)} is complete"):
        if as_json:
            print_json({"file": str(file), "output": str(output), **done})
            return
        warn(done)
        if str(output) != "-":
            click.echo(f"{file_name(output)}: zone {done['zone']}, {done['records']:,} records")
