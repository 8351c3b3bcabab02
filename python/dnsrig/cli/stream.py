"""`dnsrig stream`: make query streams."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, FiniteRange, WholeNumber, chosen_seed, json_option, print_json, seed_option
from dnsrig.cli.streams import check_output_is_open, say

MOST_QUERIES = 50_000_000
"""A stream is made in memory, about 150 octets a query."""
KINDS = ("existence", "denial", "normal")


@click.group()
def stream() -> None:
    """Make query streams for a load."""


@stream.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--zone", "zonefile", type=EXISTING_FILE, required=True, help="The zone that will be asked.")
@click.option("-o", "--origin", default=None, help="Name of the zone's apex, if the file does not say it.")
@click.option(
    "--queries",
    "log",
    type=EXISTING_FILE,
    default=None,
    help="A query log in dnsperf's format to start from.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out the log's bad lines instead of stopping at them.")
@click.option(
    "-n", "--number", type=WholeNumber(1, MOST_QUERIES), default=100_000, show_default=True, help="How many queries."
)
@click.option(
    "--denial-share",
    type=FiniteRange(0, 1),
    default=0.08,
    show_default=True,
    help="For 'normal' without a log.",
)
@seed_option
@json_option
def make(
    kind: str,
    file: Path,
    zonefile: str,
    origin: str | None,
    log: str | None,
    skip_bad: bool,
    number: int,
    denial_share: float,
    seed: int | None,
    as_json: bool,
) -> None:
    """Write a stream of KIND to FILE, in dnsperf's text format, by JPRS-2010's method. FILE '-' is standard output.

    \b
    existence  names that exist, from the log or from the zone
    denial     random names made from them that do not exist, each once
    normal     the log as it is, or existence with a share of denial

    \b
    Example:
      dnsrig stream make denial queries.txt --zone example.db -n 10000
      dnsrig stream make normal - --zone example.db | dnsrig load -p 5300 -l 10
    """
    is_output = str(file) == "-"
    if is_output:
        if as_json:
            raise click.UsageError("--json needs a FILE with a name: with '-' standard output holds the stream")
        check_output_is_open()
    seed = chosen_seed(seed)
    zone = _core.Zone.read(zonefile, origin)
    queries = None if log is None else _core.QueryLog.read(log, skip_bad)
    made, summary = _core.QueryStream.synthesise(
        zone, queries, kind=kind, queries=number, denial_share=denial_share, seed=seed
    )
    made.write_text(file)
    sentence = f"{len(made):,} queries, stream {kind} for zone {zone.origin} (seed {seed})"
    if is_output:
        say(sentence)
    elif as_json:
        print_json({"file": str(file), "kind": kind, "seed": seed, **summary})
    else:
        click.echo(f"{file}: {sentence}")
