"""`dnsrig verify resolver` and `dnsrig verify serve-tree`."""

import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.verify_options import Wishes, verify_each, verify_options, wishes_of
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import run_items
from dnsrig.verification.tree.serve import serve_tree
from dnsrig.verification.verification import Verification

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option("-p", "--port", type=click.IntRange(1, 65_535), default=53, show_default=True, help="Port of an address.")
@click.option("--tree", type=FOLDER, default=None, help="Folder of the tree that it resolves from (see serve-tree).")
@verify_options
def resolver(
    targets: tuple[str, ...],
    port: int,
    tree: Path | None,
    **options: Any,  # noqa: ANN401 (click passes what the shared options name)
) -> int:
    """Check resolvers: those of the rig by their names, others by address or host name.

    A resolver that the rig starts runs in a network namespace (which takes root, or user namespaces) and resolves from
    the rig's private tree of signed zones, good and broken ones. Another one is pointed at the tree by you: see `dnsrig
    verify serve-tree`; without that only items that need nothing of the tree are applicable.

    \b
    Examples:
      dnsrig verify resolver unbound bind
      dnsrig verify resolver 127.0.0.1 -p 5353 --tree tree
    """
    wishes = wishes_of("resolver", options)
    if wishes is None:
        return 0
    if not targets:
        known = ", ".join(resolver_drivers("resolver"))
        raise click.UsageError(f"name a TARGET: one of {known}, an address or a host name")
    if any(target in resolver_drivers("resolver") for target in targets):
        enter_user_namespace()
    return verify_each(targets, lambda target: _verified(target, port, tree, wishes), wishes)


def _verified(target: str, port: int, tree: Path | None, wishes: Wishes) -> Verification:
    items = wishes.items()
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="dnsrig-verify-") as folder,
        resolver_target(target, port, tree, Path(folder)) as found,
    ):
        results = run_items(items, found.subject)
    elapsed_s = time.monotonic() - began
    return Verification("resolver", target, found.version, None, results, elapsed_s, found.known)


@click.command("serve-tree")
@click.argument("folder", type=FOLDER)
@click.option("--prefix", default=None, metavar="NET", help="First three octets of its addresses, of this machine.")
def serve_tree_command(folder: Path, prefix: str | None) -> None:
    """Serve the private tree of signed zones, made in FOLDER, until Ctrl-C, for a resolver to be pointed at it.

    It is served on port 53 of several addresses of this machine, which takes root. What to tell the resolver, root
    hints and trust anchor, is printed.

    \b
    Example:
      dnsrig verify serve-tree tree
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    serve_tree(folder, stop, click.echo, *([] if prefix is None else [prefix]))
