"""`dnsrig internet`: a simulated Internet for resolvers."""

import click

from dnsrig.cli.command_list import CommandList

COMMANDS = {
    "serve": ("internet_serve", "Serve a simulated Internet until Ctrl-C."),
    "from-capture": ("internet_capture", "Rebuild the zones that a capture shows, to be served."),
    "profile": ("internet_profile", "Print a named profile, to be edited."),
    "questions": ("internet_profile", "Make questions that clients of a resolver would ask."),
}


@click.group(cls=CommandList, modules=COMMANDS)
def internet() -> None:
    """Simulate the Internet's name space: root, top-level domains and millions of domains below, all from a seed."""
