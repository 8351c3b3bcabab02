"""`dnsrig sink`: a server that does nothing but answer."""

import contextlib

import click

from dnsrig import _core
from dnsrig.cli.common import WholeNumber


@click.command(hidden=True)
@click.option("-s", "--address", default="127.0.0.1", show_default=True)
@click.option("-p", "--port", type=WholeNumber(0, 65535), default=0, help="0 picks a free one.")
@click.option("--no-offload", is_flag=True, help="Send every answer on its own, as name servers do.")
def sink(address: str, port: int, no_offload: bool) -> None:
    """Echo every datagram as an answer: what a load generator reaches when no server is in its way."""
    with contextlib.suppress(KeyboardInterrupt):
        _core.serve_echo(address, port, lambda chosen: click.echo(f"ready {chosen}"), offload=not no_offload)
