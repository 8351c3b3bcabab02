"""`dnsrig zone`: generate zones, and say what is in one."""

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, json_option, print_json, print_table
from dnsrig.cli.zone_generate import generate
from dnsrig.cli.zone_verify import verify


@click.group()
def zone() -> None:
    """Make and look at zone files."""


zone.add_command(generate)
zone.add_command(verify)


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
