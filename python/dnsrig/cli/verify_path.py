"""`dnsrig verify path`."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import EXISTING_FILE
from dnsrig.cli.verify_options import Wishes, direct_beside, direct_option, verify_each, verify_options, wishes_of
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.verification.path_targets import OWN_PATHS, Ends, OwnPath, path_target
from dnsrig.verification.runner import run_items
from dnsrig.verification.verification import Verification

LEAST_MTU = 68
"""Octets that every IPv4 link carries (RFC 791)."""


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--rules", type=EXISTING_FILE, default=None, help="nftables rules of the rig's router or bridge.")
@click.option("--mtu", type=click.IntRange(LEAST_MTU, 1500), default=None, help="MTU of its inner device, in octets.")
@click.option("--server-namespace", default=None, metavar="NETNS", help="Network namespace that has the address.")
@click.option("--client-namespace", default=None, metavar="NETNS", help="Where to ask from; else this machine.")
@click.option("--nowhere", default=None, metavar="ADDRESS", help="Beyond the path; nothing answers DNS there.")
@direct_option
@verify_options
def path(
    targets: tuple[str, ...],
    rules: str | None,
    mtu: int | None,
    server_namespace: str | None,
    client_namespace: str | None,
    nowhere: str | None,
    **options: Any,  # noqa: ANN401 (click passes what the shared options name)
) -> int:
    """Check network paths: whether DNS passes a router or firewall as if it were not there.

    The same server, of the rig, is asked through the path and without it. A TARGET is `router` or `bridge`, which this
    machine's kernel is in network namespaces (which take root, or user namespaces), with the rules of --rules; or, for
    a router or firewall of yours, the address of the rig's server beyond it. The network card with that address is put
    into a network namespace, so that packets do not stay within this machine; the rig answers there.

    \b
    Examples:
      dnsrig verify path router --rules firewall.nft      try nftables rules (devices: inner, outer)
      dnsrig verify path router --mtu 1280 --direct       with the router and without it, side by side
      ip netns add beyond; ip link set eth1 netns beyond  a device between eth0 and eth1 of this machine
      dnsrig verify path 198.18.53.1 --server-namespace beyond
    """
    wishes = wishes_of("path", options)
    if wishes is None:
        return 0
    if not targets:
        raise click.UsageError(f"name a TARGET: {', '.join(OWN_PATHS)}, or the address of the server beyond the path")
    if any(target in OWN_PATHS for target in targets):
        enter_user_namespace()
    own = OwnPath(None if rules is None else Path(rules), mtu)
    ends = Ends(server_namespace, client_namespace, nowhere)
    return verify_each(targets, lambda target: _verified(target, own, ends, wishes), wishes)


def _verified(target: str, own: OwnPath, ends: Ends, wishes: Wishes) -> Sequence[Verification]:
    began = time.monotonic()
    with path_target(target, own, ends) as found:
        direct = direct_beside("path", target, found.subject.without, wishes)
        results = run_items(wishes.items(), found.subject)
    elapsed_s = time.monotonic() - began - sum(one.elapsed_s for one in direct)
    return [*direct, Verification("path", target, found.version, None, results, elapsed_s)]
