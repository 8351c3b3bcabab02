"""The drivers of resolvers and proxies by name."""

from typing import Literal

from dnsrig.errors import InputError
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.bind import BindResolver
from dnsrig.servers.resolvers.dnsdist import DnsdistProxy
from dnsrig.servers.resolvers.dnsmasq import Dnsmasq
from dnsrig.servers.resolvers.hickory import HickoryRecursor
from dnsrig.servers.resolvers.knot_resolver import KnotResolver
from dnsrig.servers.resolvers.powerdns_recursor import PowerDnsRecursor
from dnsrig.servers.resolvers.unbound import UnboundForwarder, UnboundResolver
from dnsrig.wording import did_you_mean

DRIVERS: tuple[type[Resolver], ...] = (
    BindResolver,
    HickoryRecursor,
    KnotResolver,
    PowerDnsRecursor,
    UnboundResolver,
    Dnsmasq,
    DnsdistProxy,
    UnboundForwarder,
)
OTHER_NAMES = {
    "named": "bind",
    "bind9": "bind",
    "hickory": "hickory-recursor",
    "hickory-dns": "hickory-recursor",
    "kresd": "knot-resolver",
    "knot_resolver": "knot-resolver",
    "knot": "knot-resolver",
    "pdns-recursor": "powerdns-recursor",
    "pdns_recursor": "powerdns-recursor",
    "powerdns_recursor": "powerdns-recursor",
    "powerdns": "powerdns-recursor",
}


def resolver_drivers(role: Literal["resolver", "proxy"] | None = None) -> dict[str, type[Resolver]]:
    """Map the name of every driver, or every one of a role, to its class, in the order in which they are listed."""
    return {driver.name: driver for driver in DRIVERS if role in {None, driver.role}}


def found_resolvers(role: Literal["resolver", "proxy"] | None = None) -> dict[str, Installation]:
    """Map the names of those drivers whose server is on this machine to its installation."""
    return {name: there for name, driver in resolver_drivers(role).items() if (there := driver.find()) is not None}


def resolver_driver(name: str, wanted: Literal["resolver", "proxy"] | None = None) -> type[Resolver]:
    """Give a driver's class by its name.

    Raises:
        InputError: there is none of that name; the message names the nearest ones, of the role that is `wanted`.

    """
    every = resolver_drivers()
    if name in every:
        return every[name]
    known = resolver_drivers(wanted)
    hint = did_you_mean(name, known, OTHER_NAMES)
    named = f"{hint and f'{hint} '}known are {', '.join(known)}"
    raise InputError(f"there is no {wanted or 'resolver or proxy'} named {name!r}: {named}")
