"""`dnsrig verify proxy`."""

import ipaddress
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import click

from dnsrig.cli.scratch_room import scratch_folder
from dnsrig.cli.verify_beside import Beside, Tell
from dnsrig.cli.verify_options import (
    Wishes,
    check_raised_limits,
    direct_option,
    raised_limits_option,
    refuse_unused,
    server_version_option,
    titled,
    verify_direct,
    verify_each,
    verify_options,
    verify_raised,
    wishes_of,
)
from dnsrig.cli.verify_trial import Keep, Trial
from dnsrig.errors import InputError
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import KnownItem
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.said_version import told_version

PORT = click.IntRange(1, 65_535)


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("-p", "--port", type=PORT, default=53, show_default=True, help="Port of an address.")
@click.option(
    "--upstream",
    default=None,
    metavar="ADDRESS",
    help="Address of this machine at which the rig answers as the proxy's upstream; tell the proxy to forward to it.",
)
@click.option("--upstream-port", type=PORT, default=53, show_default=True, help="Port of --upstream.")
@click.option(
    "--outer",
    multiple=True,
    metavar="ADDRESS",
    help="The proxy's outer address, where nobody is to be served; this machine has an address on that side. Give it "
    "again for IPv6.",
)
@server_version_option("dnsmasq 2.90")
@direct_option
@raised_limits_option
@verify_options
def proxy(
    targets: tuple[str, ...],
    port: int,
    upstream: str | None,
    upstream_port: int,
    outer: tuple[str, ...],
    server_version: str | None,
    **options: Any,  # noqa: ANN401 (click passes what the shared options name)
) -> int:
    """Check DNS proxies, such as those of home routers: the rig's by their names, others by address or host name.

    An address may have its port behind it: 192.168.1.1#5353, fe80::1%eth0#5353.

    A proxy that the rig starts stands in network namespaces (which take root, or user namespaces) between a client and
    the rig's upstream, a server that answers each name as the name says. What comes out of the proxy is compared with
    what went in. Tell a device of yours to forward to the rig, at --upstream, and not to validate itself; without that
    hardly any item is applicable.

    \b
    Examples:
      dnsrig verify proxy dnsmasq dnsdist
      dnsrig verify proxy dnsmasq --direct                with the proxy and without it, side by side
      dnsrig verify proxy 192.168.1.1 --upstream 192.168.1.10
      dnsrig verify proxy 192.168.1.1 --upstream 203.0.113.1 --outer 203.0.113.7
    """
    wishes = wishes_of("proxy", options)
    if wishes is None:
        return 0
    known = resolver_drivers("proxy")
    if not targets:
        raise click.UsageError(f"name a TARGET: one of {', '.join(known)}, an address or a host name")
    if all(target in known for target in targets):
        given = {"port": "--port", "upstream": "--upstream", "upstream_port": "--upstream-port", "outer": "--outer"}
        given["server_version"] = "--server-version"
        refuse_unused(given, "it is for a proxy at an address; leave it out")
    check_raised_limits(wishes, targets, known)
    device = Device(
        port,
        None if upstream is None else Endpoint(_address(upstream, "--upstream"), upstream_port),
        tuple(_address(one, "--outer") for one in outer),
        None if server_version is None else told_version(server_version, "proxy"),
    )
    if wishes.direct and upstream is None and not all(target in known for target in targets):
        raise click.UsageError("--direct: what a proxy of yours forwards to is the rig's server only with --upstream")
    if any(target in known for target in targets):
        enter_user_namespace()
    slow = any(known.item.is_slow for known in wishes.items())
    if len(targets) > 1 and slow and all(target in known for target in targets) and not wishes.raised_limits:
        with Beside(targets, partial(_begin, wishes), _runs(wishes)) as verify:
            return verify_each(targets, verify, wishes)
    return verify_each(targets, lambda target, keep: _verify(target, device, wishes, keep), wishes)


def _runs(wishes: Wishes) -> int:
    return len(wishes.items()) * (2 if wishes.direct else 1)


def _begin(wishes: Wishes, target: str, keep: Keep, tell: Tell, held: ExitStack) -> Callable[[], None]:
    """Start a proxy of the rig, and give what verifies it, in a thread beside others: slow items wait for minutes."""
    trial = Trial("proxy", target, keep)
    folder = held.enter_context(scratch_folder())
    found = held.enter_context(proxy_target(target, Device(), folder))

    def run() -> None:
        if wishes.direct:
            trial.left_out_s = verify_direct("proxy", target, found.without(), wishes, keep, tell)
        trial.run(found, wishes.items(), wishes.limit_of(found.limit_s), tell)

    return run


def _verify(target: str, device: Device, wishes: Wishes, keep: Keep) -> None:
    def verify(items: Sequence[KnownItem], udp_limit: int | None = None) -> None:
        trial = Trial("proxy", titled(target, udp_limit), keep)
        with scratch_folder() as folder, proxy_target(target, device, folder, udp_limit) as found:
            trial.remark(found.remark, target)
            if wishes.direct and udp_limit is None:
                trial.left_out_s = verify_direct("proxy", target, found.without(), wishes, keep)
            trial.run(found, items, wishes.limit_of(found.limit_s))

    verify(wishes.items())
    verify_raised(verify, wishes)


def _address(text: str, option: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise InputError(f"{option} {text}: it is no IPv4 or IPv6 address") from error
