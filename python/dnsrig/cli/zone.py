"""`dnsrig zone`: make, sort, cut, check, verify and compare zone files."""

import click

from dnsrig.cli.zone_check import check
from dnsrig.cli.zone_compare import compare
from dnsrig.cli.zone_generate import generate
from dnsrig.cli.zone_pieces import join, split
from dnsrig.cli.zone_sort import sort
from dnsrig.cli.zone_stats import stats
from dnsrig.cli.zone_verify import verify


@click.group()
def zone() -> None:
    """Make, sort, cut, check, verify and compare zone files of any size."""


for command in (generate, sort, split, join, check, verify, compare, stats):
    zone.add_command(command)
