"""`dnsrig verify`: check what a server, resolver, proxy or network path does, item by item."""

import click

from dnsrig.cli.verify_authoritative import authoritative
from dnsrig.cli.verify_path import path
from dnsrig.cli.verify_proxy import proxy
from dnsrig.cli.verify_resolver import resolver, serve_tree_command


@click.group()
def verify() -> None:
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
      dnsrig verify authoritative --list                  all items
      dnsrig verify authoritative --explain A-85          one of them, and how to see it by dig
    """


verify.add_command(authoritative)
verify.add_command(resolver)
verify.add_command(proxy)
verify.add_command(path)
verify.add_command(serve_tree_command)
