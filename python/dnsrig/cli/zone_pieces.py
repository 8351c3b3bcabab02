"""`dnsrig zone split` and `zone join`: the pieces of a zone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json, print_table
from dnsrig.cli.streams import report_on
from dnsrig.cli.zone_reading import (
    OUTPUT_FILE,
    ZONE_FILE,
    Reading,
    claim_output,
    file_name,
    reading_options,
    require_folder,
    warn,
    work,
)

PIECES_MAX = 10_000


@click.command()
@click.argument("file", type=ZONE_FILE)
@click.option("-n", "--pieces", type=click.IntRange(1, PIECES_MAX), default=None, help="How many pieces to make.")
@click.option(
    "--by-label-range",
    "labels",
    metavar="RANGES",
    default=None,
    help="Make a piece for each range of first letters below the apex, such as 0-9,a-j,k-z or -j,k-.",
)
@click.option(
    "-f",
    "--prefix",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Beginning of the pieces' file names: PREFIX.1, PREFIX.2, and the manifest PREFIX.pieces.  [default: FILE]",
)
@reading_options
@json_option
def split(
    file: Path,
    pieces: int | None,
    labels: str | None,
    prefix: Path | None,
    origin: str | None,
    memory: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Cut the zone FILE into pieces, each a zone.

    Every piece has all records of the apex, and then the names from one cut to the next in canonical order. Cuts are
    only between names, never between a delegation and the glue below it; as far as that allows, pieces have as many
    RRsets each, give or take one. An address of a name server that is not below the delegation is where its own name
    is. RRSIG and NSEC records go with their names; NSEC3 records are shared out evenly in the order of their hashes.
    FILE may be in any order, or - for standard input.

    The manifest tells `zone join` and `sign` what each piece has and which name comes after it.

    \b
    Example:
      dnsrig zone split ca.zone -n 4 -f pieces/ca
      dnsrig zone split com.zone --by-label-range 0-9,a-l,m-z -f com
    """
    if (pieces is None) == (labels is None):
        raise click.UsageError("give either -n, how many pieces, or --by-label-range.")
    if prefix is None and str(file) == "-":
        raise click.UsageError("give -f, the beginning of the pieces' file names: standard input has no name.")
    require_folder(prefix or file, "-f")
    reading = Reading(origin, memory, threads)
    done = work(
        "split",
        [file],
        reading,
        lambda reading: _core.zone_split(file, prefix or file, reading, pieces=pieces, labels=labels),
    )
    with report_on(f"{done['manifest']} and its pieces are complete"):
        _report_split(file, done, as_json)


def _report_split(file: Path, done: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), **done})
        return
    warn(done)
    click.echo(f"{done['manifest']}: zone {done['zone']} with serial {done['serial']}, {len(done['pieces'])} pieces")
    rows = [
        (one["file"], f"{one['rrsets']:,}", f"{one['records']:,}", one["first"] or "-", one["last"] or "-")
        for one in done["pieces"]
    ]
    print_table(("piece", "RRsets", "records", "first", "last"), rows, right=(1, 2))


@click.command()
@click.argument("files", type=ZONE_FILE, nargs=-1, required=True, metavar="PIECES...")
@click.option("-f", "--output", type=OUTPUT_FILE, default="-", help="The file to write.  [default: standard output]")
@click.option(
    "--manifest",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    default=None,
    help="The manifest that zone split wrote; a file among PIECES that ends in .pieces is it, too.",
)
@reading_options
@json_option
def join(
    files: tuple[Path, ...],
    output: Path,
    manifest: Path | None,
    origin: str | None,
    memory: int | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Put the pieces of a zone together, in any order.

    The result is as `zone sort` would write the whole zone. Pieces that were signed since they were made may be
    joined, too. With the manifest alone, the pieces are those that it names.

    Refused are pieces of other zones or with other SOA records, pieces that are cut short or given twice, unsigned
    among signed ones, and a set of which one is missing: by the manifest, by the comments that zone split writes, by
    numbers in file names, and where an NSEC or NSEC3 chain does not go on.

    \b
    Example:
      dnsrig zone join pieces/ca.pieces -f ca.zone
      dnsrig zone join ca.1.signed ca.2.signed --manifest ca.pieces -f ca.signed
      dnsrig zone join db.000 db.001 db.002 > db
    """
    claim_output(output, as_json)
    reading = Reading(origin, memory, threads)
    done = work(
        "join", files, reading, lambda reading: _core.zone_join(list(files), output, reading, manifest=manifest)
    )
    with report_on(f"{file_name(output)} is complete"):
        if as_json:
            print_json({"files": [str(file) for file in files], "output": str(output), **done})
            return
        warn(done)
        if str(output) != "-":
            counts = f"{done['pieces']} pieces, {done['names']:,} names, {done['records']:,} records"
            click.echo(f"{file_name(output)}: zone {done['zone']}, {counts}")
