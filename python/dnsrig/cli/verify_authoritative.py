"""`dnsrig verify authoritative`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import dns.exception
import dns.name
import dns.tsig
from dns.rdatatype import RdataType

from dnsrig.cli.common import EXISTING_FILE
from dnsrig.cli.scratch_room import scratch_folder
from dnsrig.cli.streams import say
from dnsrig.cli.verify_options import (
    Wishes,
    check_raised_limits,
    raised_limits_option,
    refuse_unused,
    server_version_option,
    titled,
    verify_each,
    verify_options,
    verify_raised,
    wishes_of,
)
from dnsrig.cli.verify_trial import Keep, Trial
from dnsrig.errors import InputError
from dnsrig.servers.registry import drivers
from dnsrig.verification.discovery import ToldNames
from dnsrig.verification.given_names import name_of
from dnsrig.verification.item import KnownItem
from dnsrig.verification.landmarks import SEED
from dnsrig.verification.said_version import told_version
from dnsrig.verification.targets import Told, authoritative_target, is_of_rig
from dnsrig.verification.tsig_keys import key_of_file, key_of_words
from dnsrig.verification.verification import Verification

LARGE_OCTETS = 4 << 20
"""A zone file of more takes half a minute or longer to be read."""
CUTS = "delegations"
OF_ADDRESSES = {
    CUTS: "--delegation",
    "names": "--name",
    "empties": "--empty",
    "tsig": "--tsig",
    "tsig_file": "--tsig-file",
    "server_version": "--server-version",
}


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65_535),
    default=53,
    show_default=True,
    help="Port of addresses that have none behind them.",
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
@click.option(
    "--delegation",
    CUTS,
    multiple=True,
    metavar="NAME",
    help="A delegation in the zone, where it is not found by asking (NSEC3), or to be looked at in any case; may be"
    " repeated.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME[/TYPE]",
    help="A name in the zone, such as a wildcard, that is not found by asking; may be repeated.",
)
@click.option(
    "--empty", "empties", multiple=True, metavar="NAME", help="An empty non-terminal in the zone; may be repeated."
)
@click.option("--tsig", metavar="[ALG:]NAME:SECRET", default=None, help="TSIG key for zone transfers (see dig -y).")
@click.option("--tsig-file", type=EXISTING_FILE, default=None, help="The same in a file, as tsig-keygen writes it.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=SEED,
    show_default=True,
    help="By which is drawn what of a zone of more than 500 RRsets is asked for: the same each time.",
)
@server_version_option("NSD 4.6.1")
@raised_limits_option
@verify_options
def authoritative(
    targets: tuple[str, ...],
    port: int,
    zone: str | None,
    zone_file: str | None,
    ds: str | None,
    servers: tuple[str, ...],
    delegations: tuple[str, ...],
    names: tuple[str, ...],
    empties: tuple[str, ...],
    tsig: str | None,
    tsig_file: str | None,
    seed: int,
    server_version: str | None,
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
      dnsrig verify authoritative 192.0.2.53 --zone example.com --delegation sub.example.com --name '*.example.com/TXT'
      dnsrig verify authoritative 192.0.2.53 --zone example.com --tsig-file transfer.key
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
        of_addresses = {name: option for name, option in OF_ADDRESSES.items() if zone_file is None or name != CUTS}
        refuse_unused(of_addresses, "it is for a server at an address; leave it out")
    if zone is not None and not zone.strip():
        raise click.UsageError("--zone is empty: give the zone's name; '.' is the root zone")
    check_raised_limits(wishes, targets, drivers())
    if zone_file is not None and (names or empties):
        raise click.UsageError("--name and --empty: --zone-file shows the zone's names; leave one out")
    version = None if server_version is None else told_version(server_version)
    told_names = ToldNames(tuple(map(name_of, delegations)), tuple(map(_named, names)), tuple(map(name_of, empties)))
    key = _key(tsig, tsig_file)
    _warn_of_size(_path(zone_file))
    told = Told(zone, _path(zone_file), _path(ds), servers, told_names, key, version, seed)
    return verify_each(targets, lambda target, keep: _verify(target, port, told, wishes, keep), wishes)


def _named(text: str) -> tuple[dns.name.Name, RdataType | None]:
    """Read NAME[/TYPE]."""
    name, _, kind = text.partition("/")
    try:
        rtype = RdataType.from_text(kind) if kind else None
    except (dns.exception.DNSException, ValueError) as error:
        raise InputError(f"--name {text}: '{kind}' is no type of records") from error
    return name_of(name), rtype


def _key(tsig: str | None, tsig_file: str | None) -> dns.tsig.Key | None:
    if tsig is not None and tsig_file is not None:
        raise click.UsageError("--tsig and --tsig-file: one key signs; leave one out")
    if tsig_file is not None:
        return key_of_file(Path(tsig_file))
    return None if tsig is None else key_of_words(tsig)


def _warn_of_size(zone_file: Path | None) -> None:
    """Say that a large zone file takes its time: nothing is asked before it has been read."""
    octets = zone_file.stat().st_size if zone_file is not None and zone_file.is_file() else 0
    if octets > LARGE_OCTETS:
        say(f"dnsrig: {zone_file} has {octets >> 20} MB: reading it, and its signatures, comes before all else")


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _verify(target: str, port: int, told: Told, wishes: Wishes, keep: Keep) -> None:
    def keep_with_seed(found: Verification) -> None:
        keep(replace(found, seed=told.seed))

    def verify(items: Sequence[KnownItem], udp_limit: int | None = None) -> None:
        trial = Trial("authoritative", titled(target, udp_limit), keep_with_seed)
        # A second server takes a second or two to start.
        has_secondary = any("peers" in known.item.needs for known in items)
        with (
            scratch_folder() as folder,
            authoritative_target(target, port, told, folder, udp_limit, has_secondary=has_secondary) as found,
        ):
            if found.seems_other:
                say(f"dnsrig: {found.seems_other}")
            trial.run(found, items, wishes.limit_of(found.limit_s))

    verify(wishes.items())
    verify_raised(verify, wishes)
