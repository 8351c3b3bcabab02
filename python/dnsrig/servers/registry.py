"""The drivers by name."""

import difflib

from dnsrig.errors import InputError
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.bind import Bind
from dnsrig.servers.embedded import Embedded
from dnsrig.servers.knot import Knot
from dnsrig.servers.nsd import Nsd
from dnsrig.servers.powerdns import PowerDns

DRIVERS: tuple[type[Server], ...] = (Embedded, Bind, Nsd, Knot, PowerDns)
OTHER_NAMES = {
    "named": "bind",
    "bind9": "bind",
    "knotd": "knot",
    "knot-dns": "knot",
    "pdns": "powerdns",
    "pdns_server": "powerdns",
}


def drivers() -> dict[str, type[Server]]:
    """Map the name of every driver to its class, in the order in which they are listed."""
    return {driver.name: driver for driver in DRIVERS}


def found() -> dict[str, Installation]:
    """Map the names of those drivers whose server is on this machine to its installation."""
    return {name: there for name, driver in drivers().items() if (there := driver.find()) is not None}


def driver(name: str) -> type[Server]:
    """Give a driver's class by its name.

    Raises:
        InputError: there is none of that name; the message names the nearest ones.

    """
    known = drivers()
    if name in known:
        return known[name]
    if name.lower() == "hickory":
        raise InputError(
            "there is no driver for Hickory DNS: the server that comes with dnsrig is `embedded`, for the "
            "reasons in docs/decisions/embedded-server.md"
        )
    near = difflib.get_close_matches(name.lower(), [*known, *OTHER_NAMES], n=3, cutoff=0.5)
    meant = list(dict.fromkeys(OTHER_NAMES.get(candidate, candidate) for candidate in near))
    hint = f"did you mean {' or '.join(meant)}? " if meant else ""
    raise InputError(f"there is no server named {name!r}: {hint}known are {', '.join(known)}")
