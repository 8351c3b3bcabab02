"""The drivers by name."""

from dnsrig.errors import InputError
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.bind import Bind
from dnsrig.servers.dnsdist import Dnsdist, in_front_of
from dnsrig.servers.embedded import Embedded
from dnsrig.servers.knot import Knot
from dnsrig.servers.nsd import Nsd
from dnsrig.servers.powerdns import PowerDns
from dnsrig.servers.unbound import Unbound
from dnsrig.wording import did_you_mean

DRIVERS: tuple[type[Server], ...] = (Embedded, Bind, Nsd, Knot, PowerDns, Unbound)
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


def measured_by_default() -> tuple[str, ...]:
    """Name the servers on this machine that a study of authoritative servers measures when none are named."""
    known = drivers()
    return tuple(name for name in found() if known[name].measured_by_default)


def driver(name: str) -> type[Server]:
    """Give a driver's class by its name; `dnsdist+NAME` is dnsdist in front of the server NAME.

    Raises:
        InputError: there is none of that name; the message names the nearest ones.

    """
    front, plus, behind = name.partition("+")
    if front == Dnsdist.name:
        if not plus:
            raise InputError("dnsdist answers nothing itself: name the server behind it, such as dnsdist+nsd")
        if behind.partition("+")[0] == Dnsdist.name:
            raise InputError(f"{name!r} puts dnsdist in front of itself: name an authoritative server behind it")
        return in_front_of(driver(behind))
    known = drivers()
    if name in known:
        return known[name]
    if name.lower() == "hickory":
        raise InputError(
            "there is no driver for Hickory DNS as an authoritative server: the one that comes with dnsrig is "
            "`embedded`, for the reasons in docs/decisions/embedded-server.md; as a resolver it is `hickory-recursor`"
        )
    hint = did_you_mean(name, known, OTHER_NAMES)
    raise InputError(f"there is no server named {name!r}: {hint and f'{hint} '}known are {', '.join(known)}")
