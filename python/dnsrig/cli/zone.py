"""`dnsrig zone`: make, sort, cut, check and compare zone files."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import chosen_seed, json_option, print_json, seed_option
from dnsrig.cli.zone_check import check
from dnsrig.cli.zone_compare import compare
from dnsrig.cli.zone_pieces import join, split
from dnsrig.cli.zone_sort import sort
from dnsrig.cli.zone_stats import stats


@click.group()
def zone() -> None:
    """Make, sort, cut, check and compare zone files of any size."""


@zone.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--origin", default="example.test.", show_default=True, help="Name of the zone's apex.")
@click.option(
    "--records",
    type=click.IntRange(40, 100_000),
    default=244,
    show_default=True,
    help="Number of records, exactly.",
)
@seed_option
@json_option
def generate(file: Path, origin: str, records: int, seed: int | None, as_json: bool) -> None:
    """Write a synthetic "small domain in operation" to FILE.

    Mail, web and service records, a wildcard, delegations with glue, an empty non-terminal: the kind of zone that
    JPRS-2010 measured. The same seed gives the same file.

    \b
    Example:
      dnsrig zone generate example.db --seed 1
    """
    seed = chosen_seed(seed)
    made = _core.Zone.generate(origin, records, seed)
    made.write(file)
    if as_json:
        print_json({"file": str(file), "seed": seed, "origin": made.origin, **made.statistics()})
    else:
        click.echo(f"{file}: zone {made.origin}, {made.statistics()['records']} records (seed {seed})")


for command in (sort, split, join, check, compare, stats):
    zone.add_command(command)
