"""`dnsrig traffic`: characterise, cut, anonymise and synthesise DNS traffic."""

import click

from dnsrig.cli.command_list import CommandList

COMMANDS = {
    "stats": ("traffic.stats", "Say what is in captures."),
    "anonymize": ("traffic.anonymize", "Take out whatever tells who asked."),
}
"""Each command's module in dnsrig.cli, and its line in the list."""


@click.group(cls=CommandList, modules=COMMANDS)
def traffic() -> None:
    """Characterise, cut, anonymise and synthesise DNS traffic of any size."""
