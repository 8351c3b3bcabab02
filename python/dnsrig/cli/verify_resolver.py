"""`dnsrig verify resolver` and `dnsrig verify serve-tree`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import EXISTING_FILE
from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.scratch_room import scratch_folder
from dnsrig.cli.signals import stopped_by_signals
from dnsrig.cli.streams import say
from dnsrig.cli.verify_options import (
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
from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.servers.resolvers.registry import found_resolvers, resolver_drivers
from dnsrig.verification.item import KnownItem
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.said_version import told_version
from dnsrig.verification.told_tree import ToldTree
from dnsrig.verification.tree.making import PREFIX
from dnsrig.verification.tree.serve import STEPS, prepare_tree, serve_tree


class _Folder(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 (as click has it)
        # An unset variable; Path("") would be the folder that the user is in.
        if not str(value).strip():
            self.fail("the name is empty; name a folder", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(file_okay=False, path_type=Path)


QUESTION = "NAME[/TYPE]"


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("-p", "--port", type=click.IntRange(1, 65_535), default=53, show_default=True, help="Port of an address.")
@click.option("--tree", type=FOLDER, default=None, help="Folder of the tree that it resolves from (see serve-tree).")
@click.option(
    "--trust-anchor",
    type=EXISTING_FILE,
    default=None,
    help="DS or DNSKEY records of the tree that it resolves from, if that is not the rig's: a zone file, BIND's "
    "trust-anchors, or Unbound's file.",
)
@click.option("--secure", multiple=True, metavar=QUESTION, help="A signed name of that tree; may be repeated.")
@click.option("--insecure", multiple=True, metavar=QUESTION, help="A name that is not signed; may be repeated.")
@click.option("--bogus", multiple=True, metavar=QUESTION, help="A name that does not validate; may be repeated.")
@server_version_option("Unbound 1.17.1")
@raised_limits_option
@verify_options
def resolver(
    targets: tuple[str, ...],
    port: int,
    tree: Path | None,
    trust_anchor: str | None,
    secure: tuple[str, ...],
    insecure: tuple[str, ...],
    bogus: tuple[str, ...],
    server_version: str | None,
    **options: Any,  # noqa: ANN401 (click passes what the shared options name)
) -> int:
    """Check resolvers: those of the rig by their names, others by address or host name.

    An address may have its port behind it: 192.0.2.53#5300, 2001:db8::53#5300.

    A resolver that the rig starts runs in a network namespace (which takes root, or user namespaces) and resolves from
    the rig's private tree of signed zones, good and broken ones. Another one is pointed at the tree by you: see `dnsrig
    verify serve-tree`. Where it resolves from another tree, the Internet's or one of your own, name the tree's trust
    anchor: then what any signed tree shows is checked, and more where names are given. The type is A unless told.

    \b
    Examples:
      dnsrig verify resolver unbound bind
      dnsrig verify resolver 127.0.0.1 -p 5353 --tree tree
      dnsrig verify resolver 192.0.2.53 --trust-anchor root.key --secure example.com/MX --bogus dnssec-failed.org
    """
    wishes = wishes_of("resolver", options)
    if wishes is None:
        return 0
    if not targets:
        raise _no_target()
    check_raised_limits(wishes, targets, resolver_drivers("resolver"))
    told = _told_tree(targets, tree, trust_anchor, (secure, insecure, bogus))
    if all(target in resolver_drivers("resolver") for target in targets):
        given = {"port": "--port", "tree": "--tree", "server_version": "--server-version"}
        refuse_unused(given, "it is for a resolver at an address; leave it out")
    version = None if server_version is None else told_version(server_version, "resolver")
    if any(target in resolver_drivers("resolver") for target in targets):
        enter_user_namespace()

    def verify(target: str, keep: Keep) -> None:
        def of_items(items: Sequence[KnownItem], udp_limit: int | None = None) -> None:
            trial = Trial("resolver", titled(target, udp_limit), keep)
            with (
                scratch_folder() as folder,
                resolver_target(target, port, tree, folder, told, udp_limit=udp_limit, version=version) as found,
            ):
                if found.seems_other:
                    say(f"dnsrig: {found.seems_other}")
                trial.run(found, items, wishes.limit_of(found.limit_s))

        of_items(wishes.items())
        verify_raised(of_items, wishes)

    return verify_each(targets, verify, wishes)


def _no_target() -> Exception:
    """Say what can be a target: the resolvers that are there, and how those that are not are installed."""
    found = found_resolvers("resolver")
    missing = {name: driver for name, driver in resolver_drivers("resolver").items() if name not in found}
    packages = [f"{driver.package} ({name})" for name, driver in missing.items() if driver.package]
    builds = [f"{driver.build} ({name})" for name, driver in missing.items() if driver.build]
    lacking = " or by ".join([*([f"the Debian packages {', '.join(packages)}"] if packages else []), *builds])
    if not found:
        return EnvironmentLacksError(
            f"no resolver is installed that the rig can start: install one of {lacking}, or name the address of yours"
        )
    more = f"; more with {lacking}" if lacking else ""
    return click.UsageError(f"name a TARGET: one of {', '.join(found)}, an address or a host name{more}")


def _told_tree(
    targets: Sequence[str],
    tree: Path | None,
    trust_anchor: str | None,
    names: tuple[Sequence[str], Sequence[str], Sequence[str]],
) -> ToldTree | None:
    if trust_anchor is None:
        if any(names):
            raise click.UsageError("--secure, --insecure and --bogus are names of the tree of a --trust-anchor")
        return None
    if tree is not None:
        raise click.UsageError("--trust-anchor and --tree: the trust anchor of the rig's tree is known; leave one out")
    started = [target for target in targets if target in resolver_drivers("resolver")]
    if started:
        raise click.UsageError(
            f"--trust-anchor: {started[0]} is started by the rig, with the rig's tree; name a resolver by its address"
        )
    return ToldTree.read(Path(trust_anchor), *names)


@click.command("serve-tree")
@click.argument("folder", type=FOLDER)
@click.option(
    "--prefix",
    default=PREFIX,
    show_default=True,
    metavar="NET",
    help="First three octets of its addresses, which this machine has.",
)
def serve_tree_command(folder: Path, prefix: str) -> None:
    """Serve the private tree of signed zones, made in FOLDER, until Ctrl-C, for a resolver to be pointed at it.

    It is served on port 53 of several addresses of this machine, which takes root. Root hints and trust anchor are
    written into FOLDER, in the forms that resolvers read; what stands in the configuration of each is printed.

    \b
    Examples:
      dnsrig verify serve-tree tree
      ip address add 198.18.54.1/24 dev lo                for resolvers that ask nobody in 127.0.0.0/8
      dnsrig verify serve-tree tree --prefix 198.18.54
    """
    stop = stopped_by_signals()
    say("dnsrig: making the tree, or finding it, and reading its zones, which takes some seconds")
    with WorkProgress("preparing the tree", STEPS, "names") as progress:
        server = prepare_tree(
            folder, stop, lambda done: progress.show(done, f"the tree: {100 * done // STEPS} % prepared"), prefix
        )
    if server is not None:
        serve_tree(server, folder, stop, click.echo)
