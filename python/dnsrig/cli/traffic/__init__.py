"""`dnsrig traffic`: characterise, cut, anonymise and synthesise DNS traffic."""

import click

from dnsrig.cli.command_list import CommandList

COMMANDS = {
    "stats": ("traffic.stats", "Say what is in captures."),
    "filter": ("traffic.filter", "Write the messages for which an expression holds."),
    "partition": ("traffic.partition", "Cut a stream as a zone was cut, or by client."),
    "sample": ("traffic.sample", "Write all queries of some clients."),
    "anonymize": ("traffic.anonymize", "Take out whatever tells who asked."),
    "mix": ("traffic.mix", "Put queries of another stream among those of a stream."),
    "warp": ("traffic.warp", "Write the same traffic faster, later, or several times."),
    "convert": ("traffic.convert", "Convert captures, query files and Parquet into one another."),
    "synthesize": ("traffic.synthesize", "Make traffic as a profile describes it."),
    "fit": ("traffic.fit", "Make a profile of captures."),
    "profiles": ("traffic.profiles", "List and print profiles."),
}
"""Each command's module in dnsrig.cli, and its line in the list."""


@click.group(cls=CommandList, modules=COMMANDS)
def traffic() -> None:
    """Characterise, cut, anonymise and synthesise DNS traffic of any size."""
