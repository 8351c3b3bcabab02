"""`dnsrig verify path`."""

from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import EXISTING_FILE
from dnsrig.cli.streams import say
from dnsrig.cli.verify_options import (
    Wishes,
    direct_option,
    refuse_unused,
    verify_direct,
    verify_each,
    verify_options,
    wishes_of,
)
from dnsrig.cli.verify_trial import Keep, Trial
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.verification.path_targets import OWN_PATHS, Ends, OwnPath, path_target

LEAST_MTU = 68
"""Octets that every IPv4 link carries (RFC 791)."""
LEAST_MTU_6 = 1280
"""The same for IPv6 (RFC 8200 section 5)."""


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("--rules", type=EXISTING_FILE, default=None, help="nftables rules of the rig's router or bridge.")
@click.option("--mtu", type=click.IntRange(LEAST_MTU, 1500), default=None, help="MTU of its inner device, in octets.")
@click.option("--server-namespace", default=None, metavar="NETNS", help="Network namespace that has the address.")
@click.option("--client-namespace", default=None, metavar="NETNS", help="Where to ask from; else this machine.")
@click.option(
    "--nowhere",
    default=None,
    metavar="ADDRESS",
    help="An address beyond the path without DNS server: what answers there is in the path. Without it, item "
    "N-intercept is inconclusive.",
)
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
    into a network namespace, so that packets do not stay within this machine; the rig answers there, on port 53. Its lo
    is to be up, and this machine's route to the address to lead through the path.

    \b
    Examples:
      dnsrig verify path router --rules firewall.nft      try nftables rules (devices: inner, outer)
      dnsrig verify path router --mtu 1280 --direct       with the router and without it, side by side
      ip netns add beyond; ip link set eth1 netns beyond  a device between eth0 and eth1 of this machine
      ip -n beyond link set lo up                         and give eth1 there its address and routes
      dnsrig verify path 198.18.53.1 --server-namespace beyond --nowhere 198.18.53.99
    """
    wishes = wishes_of("path", options)
    if wishes is None:
        return 0
    if not targets:
        raise click.UsageError(f"name a TARGET: {', '.join(OWN_PATHS)}, or the address of the server beyond the path")
    of_users = {"server_namespace": "--server-namespace", "client_namespace": "--client-namespace"}
    if all(target in OWN_PATHS for target in targets):
        refuse_unused(of_users | {"nowhere": "--nowhere"}, "it is for a path of yours, named by an address")
    if not any(target in OWN_PATHS for target in targets):
        refuse_unused({"rules": "--rules", "mtu": "--mtu"}, f"it is for the rig's own {' or '.join(OWN_PATHS)}")
    if any(target in OWN_PATHS for target in targets):
        enter_user_namespace()
    if mtu is not None and mtu < LEAST_MTU_6:
        say(
            f"dnsrig: --mtu {mtu}: IPv6 needs {LEAST_MTU_6} octets (RFC 8200 section 5); on such a link the kernel "
            "does not use it, and items about IPv6 may fail"
        )
    own = OwnPath(None if rules is None else Path(rules), mtu)
    ends = Ends(server_namespace, client_namespace, nowhere)
    return verify_each(targets, lambda target, keep: _verify(target, own, ends, wishes, keep), wishes)


def _verify(target: str, own: OwnPath, ends: Ends, wishes: Wishes, keep: Keep) -> None:
    trial = Trial("path", target, keep)
    with path_target(target, own, ends) as found:
        trial.remark(found.remark)
        if wishes.direct:
            trial.left_out_s = verify_direct("path", target, found.without(), wishes, keep)
        trial.run(found, wishes.items(), wishes.limit_of(found.limit_s))
