"""A network path between a client and a server of the rig, and the same server asked without the path."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dns.rdatatype import RdataType

from dnsrig.verification.asked_again import lost_by_chance
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.upstream.server import Forwarded, Upstream
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

Family = Literal["ipv4", "ipv6"]
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")


@dataclass(frozen=True, slots=True)
class Way:
    """How the server is asked by one version of IP."""

    asker: Asker
    """Asks through the path."""
    direct: Asker
    """Asks the same server from beyond the router or firewall."""
    server: Upstream


@dataclass
class PathSubject:
    """What items of the role `path` are run against."""

    ways: Mapping[Family, Way]
    """IPv4, and IPv6 where the system has it."""
    nowhere: Sequence[Asker] = ()
    """Ask, through the path, addresses that are routed and where nothing answers DNS: of IPv4, IPv6 or both."""
    title: str = ""
    nowhere_direct: Sequence[Asker] = ()
    """Ask those addresses from beyond the router or firewall."""
    _tcp: dict[Family, bool] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def without(self) -> "PathSubject":
        """Give what the same items find where nothing is between client and server."""
        ways = {family: replace(way, asker=way.direct) for family, way in self.ways.items()}
        return PathSubject(ways, self.nowhere_direct, self.title)

    def way(self, family: Family) -> Way:
        """Give the way that `lacks` has found to be there."""
        return self.ways[family]

    @property
    def families(self) -> Sequence[Family]:
        """The versions of IP by which there is a path."""
        return [family for family in FAMILIES if family in self.ways]

    def transports(self, family: Family) -> Sequence[Transport]:
        """Give the transports that pass; N-tcp says where TCP does not, and items that are not about it do without."""
        with self._lock:
            if family not in self._tcp:
                query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True)
                self._tcp[family] = self.way(family).asker.tcp(query).message is not None
            return ("udp", "tcp") if self._tcp[family] else ("udp",)

    def seen(self, way: Way, query: Query) -> list[Forwarded]:
        """Give what the server got and sent for a name, through the path or directly."""
        return list(way.server.seen(query.name))

    def lacks(self, need: str) -> str | None:
        """Say why an item is not applicable."""
        match need:
            case "ipv4" | "ipv6":
                version = "IPv4" if need == "ipv4" else "IPv6"
                return None if need in self.ways else f"There is no path by {version}."
            case "nowhere":
                return None if self.nowhere else "No address without a server is known."
            case _:
                raise ValueError(f"no item may need {need!r}")

    def silence(self) -> str:
        """Say that nobody answers a plain query through the path by IPv4 any more."""
        way = next(iter(self.ways.values()))
        return way.asker.ask(plain_query()).trouble

    def lost(self, way: Way, exchange: Exchange, transport: Transport = "udp") -> Outcome:
        """Judge a query without usable response: the path's failure if the server answers the same one directly."""
        query = exchange.query
        directly = way.direct.tcp(query) if transport == "tcp" else way.direct.udp(query)
        said = exchange.trouble[:1].upper() + exchange.trouble[1:].rstrip(".")
        if directly.message is None:
            return inconclusive(f"{said}; without the path there is none either.", exchange, directly)
        by_chance = "" if exchange.malformed else lost_by_chance(way.asker, exchange, plain_query)
        if by_chance:
            return inconclusive(f"{said}; {by_chance}.", exchange)
        # One of them is the query that was asked without the path.
        way_in = "reaches" if len(self.seen(way, query)) > 1 else "does not reach"
        return failed(f"{said}; the query {way_in} the server, which answers it without the path.", exchange, directly)
