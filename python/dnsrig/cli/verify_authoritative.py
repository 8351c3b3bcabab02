"""`dnsrig verify authoritative`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import EXISTING_FILE
from dnsrig.cli.verify_options import (
    Wishes,
    check_raised_limits,
    raised_limits_option,
    refuse_unused,
    scratch_folder,
    titled,
    verify_each,
    verify_options,
    verify_raised,
    wishes_of,
)
from dnsrig.cli.verify_trial import Keep, Trial
from dnsrig.servers.registry import drivers
from dnsrig.verification.item import KnownItem
from dnsrig.verification.targets import Told, authoritative_target, is_of_rig


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65_535),
    default=53,
    show_default=True,
    help="Port of addresses that name none.",
)
@click.option("--zone", default=None, metavar="NAME", help="The zone that a server at an address serves.")
@click.option("--zone-file", type=EXISTING_FILE, default=None, help="The zone's data: shows which names to ask for.")
@click.option("--ds", type=EXISTING_FILE, default=None, help="DS records of the parent zone for it, as a zone file.")
@click.option(
    "--ns",
    "servers",
    multiple=True,
    metavar="SERVER",
    help="Another server of the zone, ADDR or ADDR#PORT; may be repeated.",
)
@raised_limits_option
@verify_options
def authoritative(
    targets: tuple[str, ...],
    port: int,
    zone: str | None,
    zone_file: str | None,
    ds: str | None,
    servers: tuple[str, ...],
    **options: Any,  # noqa: ANN401 (click passes what the shared options name)
) -> int:
    """Check authoritative servers: those of the rig by their names (`dnsrig servers`), others by address or host name.

    An address may have its port behind it: 192.0.2.53#5300, 2001:db8::53#5300.

    Of a zone that is only known by its name, names are found by asking; items that need others are not applicable. With
    several targets the table has a column for each.

    \b
    Examples:
      dnsrig verify authoritative bind nsd knot           the same items on three servers, side by side
      dnsrig verify authoritative 192.0.2.53 --zone example.com --evidence
      dnsrig verify authoritative 192.0.2.53 --zone example.com --ns 192.0.2.54#5300 --ds dsset-example.com.
      dnsrig verify authoritative nsd --item A-85 --json
      dnsrig verify authoritative nsd knot --raised-limits
    """
    wishes = wishes_of("authoritative", options)
    if wishes is None:
        return 0
    if not targets:
        raise click.UsageError("name a TARGET: a server of `dnsrig servers`, an address or a host name")
    if all(is_of_rig(target) for target in targets):
        refuse_unused({"port": "--port"}, "a server that the rig starts has a free port; leave it out")
    if zone is not None and not zone.strip():
        raise click.UsageError("--zone is empty: give the zone's name; '.' is the root zone")
    check_raised_limits(wishes, targets, drivers())
    told = Told(zone, _path(zone_file), _path(ds), servers)
    return verify_each(targets, lambda target, keep: _verify(target, port, told, wishes, keep), wishes)


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _verify(target: str, port: int, told: Told, wishes: Wishes, keep: Keep) -> None:
    def verify(items: Sequence[KnownItem], udp_limit: int | None = None) -> None:
        trial = Trial("authoritative", titled(target, udp_limit), keep)
        with scratch_folder() as folder, authoritative_target(target, port, told, folder, udp_limit) as found:
            trial.run(found, items, wishes.limit_of(found.limit_s))

    verify(wishes.items())
    verify_raised(verify, wishes)
