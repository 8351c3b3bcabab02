"""`dnsrig verify serve-upstream`."""

import ipaddress
from contextlib import ExitStack

import click

from dnsrig.cli.signals import stopped_by_signals
from dnsrig.cli.streams import say
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.names import ORIGIN, UNSIGNED
from dnsrig.verification.upstream.server import Upstream

OCTETS = 1220


@click.command("serve-upstream")
@click.argument("address", default="127.0.0.1")
@click.option("-p", "--port", type=click.IntRange(0, 65_535), default=53, show_default=True, help="0 picks a free one.")
def serve_upstream_command(address: str, port: int) -> None:
    """Serve what `verify proxy` and `verify path` ask for, at ADDRESS of this machine, until Ctrl-C.

    Each name is answered as it says, so that the commands for dig that items have can be typed: through a proxy that
    forwards to here, and through a path that leads here. `verify` serves the same while it runs; end this before.

    \b
    Examples:
      dnsrig verify serve-upstream 192.168.1.10           a proxy of yours forwards to there (as root)
      dnsrig verify serve-upstream -p 5300                on 127.0.0.1
      ip netns exec beyond dnsrig verify serve-upstream 198.18.53.1
    """
    try:
        listening = Upstream(str(ipaddress.ip_address(address)), port)
    except ValueError as error:
        raise InputError(f"{address}: it is no IPv4 or IPv6 address") from error
    stop = stopped_by_signals()
    with ExitStack() as stack:
        try:
            told = stack.enter_context(listening).endpoint
        except OSError as error:
            raise EnvironmentLacksError(
                f"{address}: port {port} cannot be taken: {error.strerror}; name an address of this machine, and by "
                "--port one that is free, above 1023 without root"
            ) from error
        click.echo(f"Names below {ORIGIN} (signed) and {UNSIGNED} are answered at {told}:")
        for name, rtype in ((names.PLAIN, "A"), (names.sized(OCTETS), "TXT")):
            click.echo(f"  dig @{told.address} -p {told.port} x.{name}.{ORIGIN} {rtype} +dnssec +bufsize=4096")
        say("dnsrig: Ctrl-C ends serving")
        stop.wait()
