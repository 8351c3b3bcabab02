"""Values of options of `dnsrig load` that have a form of their own, checked as they are read."""

import ipaddress
import re

import click

EDNS_OPTION = re.compile(r"(\d{1,5})(:(?:[0-9a-fA-F]{2})*)?", re.ASCII)
"""An EDNS option as dnsperf's -E takes it."""


def client_subnet(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Check --ecs, as a click callback."""
    if value is None:
        return None
    address, slash, length = value.partition("/")
    try:
        # Lengths only: the module takes network masks as well, and zones of addresses.
        network = ipaddress.ip_network(value if not slash else f"{address}/{int(length)}", strict=False)
        whole = ipaddress.ip_address(address)
    except ValueError:
        network = None
    if network is None or "%" in address:
        raise click.BadParameter(f"'{value}' is not an address or prefix such as 192.0.2.0/24 or 2001:db8::/32")
    if network.network_address != whole:
        raise click.BadParameter(f"'{value}' has bits beyond its length; write {network}")
    return value


def edns_options(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Check each -E, as a click callback."""
    for value in values:
        found = EDNS_OPTION.fullmatch(value)
        if found is None or int(found[1]) > 65_535:
            raise click.BadParameter(f"'{value}' is not an EDNS option CODE:HEX such as 65001:00ff")
    return values
