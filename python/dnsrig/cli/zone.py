"""`dnsrig zone`: make, sort, cut, check, verify and compare zone files."""

import click

from dnsrig.cli.command_list import CommandList

COMMANDS = {
    "generate": ("zone_generate", "Make a zone like real ones."),
    "sort": ("zone_sort", "Write a zone in canonical order."),
    "split": ("zone_pieces", "Cut a zone into pieces, each a zone."),
    "join": ("zone_pieces", "Put the pieces of a zone together."),
    "check": ("zone_check", "Check a zone by the rules of DNS."),
    "verify": ("zone_verify", "Verify every RRSIG, and the whole chain of NSEC or NSEC3 records."),
    "compare": ("zone_compare", "Say what two zones differ in."),
    "stats": ("zone_stats", "Say what is in a zone."),
}


@click.group(cls=CommandList, modules=COMMANDS)
def zone() -> None:
    """Make, sort, cut, check, verify and compare zone files of any size."""
