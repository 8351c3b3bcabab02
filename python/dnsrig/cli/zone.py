"""`dnsrig zone`: generate zones, and say what is in one."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, chosen_seed, json_option, print_json, print_table, seed_option


@click.group()
def zone() -> None:
    """Make and look at zone files."""


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


@zone.command()
@click.argument("file", type=EXISTING_FILE)
@click.option("-o", "--origin", default=None, help="Name of the zone's apex, if the file does not say it.")
@json_option
def info(file: str, origin: str | None, as_json: bool) -> None:
    """Read FILE, an RFC 1035 master file, and say what is in it.

    \b
    Example:
      dnsrig zone info example.db
    """
    read = _core.Zone.read(file, origin)
    statistics = read.statistics()
    if as_json:
        print_json({"file": file, "origin": read.origin, "warnings": read.warnings, **statistics})
        return
    for warning in read.warnings:
        click.echo(f"warning: {warning}", err=True)
    types = statistics.pop("types")
    click.echo(f"zone {read.origin}")
    print_table(
        ("what", "count"),
        [(key.replace("_", " "), f"{value:,}") for key, value in statistics.items()],
        right=(1,),
    )
    click.echo()
    print_table(("type", "records"), [(name, f"{count:,}") for name, count in types.items()], right=(1,))
