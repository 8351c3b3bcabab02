"""`dnsrig verify`: check what a server, resolver, proxy or network path does, item by item."""

import click

from dnsrig.cli.common import json_option, print_json
from dnsrig.cli.verify_authoritative import authoritative
from dnsrig.cli.verify_path import path
from dnsrig.cli.verify_proxy import proxy
from dnsrig.cli.verify_resolver import resolver, serve_tree_command
from dnsrig.cli.verify_serve_upstream import serve_upstream_command
from dnsrig.items.catalogue import all_items, item_of_any_role
from dnsrig.verification.output.as_json import item_as_json, items_as_json
from dnsrig.verification.output.terminal import print_item, print_items_of_roles


@click.group(invoke_without_command=True, no_args_is_help=True)
@click.option("--list", "lists", is_flag=True, help="List the items of all roles and end.")
@click.option("--explain", metavar="ID", default=None, help="Say what an item asks, why, and how to see it by dig.")
@json_option
@click.pass_context
def verify(context: click.Context, lists: bool, explain: str | None, as_json: bool) -> None:
    """Check what servers, resolvers, proxies and paths do, item by item, with evidence.

    An item is one sentence that should hold. Each ends as pass, pass by TCP, fail, not applicable or inconclusive, with
    the messages that decided. Exit code 1 if an item fails whose severity is at least that of --fail-on.

    \b
    Examples:
      dnsrig verify authoritative nsd                     a server that the rig starts
      dnsrig verify authoritative 192.0.2.53 --zone example.com
      dnsrig verify resolver unbound bind                 two resolvers, side by side
      dnsrig verify proxy dnsmasq dnsdist                 DNS proxies between a client and the rig
      dnsrig verify path router --rules firewall.nft      a router with nftables rules
      dnsrig verify --list                                all items; dnsrig verify path --list those of a role
      dnsrig verify --explain A-85                        one of them, and how to see it by dig
    """
    asked = "--list" if lists else "--explain" if explain is not None else "--json" if as_json else ""
    if context.invoked_subcommand is not None:
        if asked:
            command = context.invoked_subcommand
            raise click.UsageError(f"{asked} stands behind {command}, as in dnsrig verify {command} {asked}")
        return
    if explain is not None:
        item = item_of_any_role(explain, "--explain").item
        print_json(item_as_json(item)) if as_json else print_item(item)
    elif lists:
        listed = [known.item for known in all_items()]
        print_json(items_as_json(listed)) if as_json else print_items_of_roles(listed)
    else:
        raise click.UsageError("--json goes with --list or --explain")


verify.add_command(authoritative)
verify.add_command(resolver)
verify.add_command(proxy)
verify.add_command(path)
verify.add_command(serve_tree_command)
verify.add_command(serve_upstream_command)
