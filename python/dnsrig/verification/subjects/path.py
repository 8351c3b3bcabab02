"""A network path between a client and a server of the rig, and the same server asked without the path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from dns.rdatatype import RdataType

from dnsrig.verification.asked_again import ask_again, lost_by_chance
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.kept import Kept
from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.upstream.server import Forwarded, Upstream
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

Family = Literal["ipv4", "ipv6"]
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
VERSIONS: Mapping[Family, str] = {"ipv4": "IPv4", "ipv6": "IPv6"}
"""As they are written."""


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
    """IPv4, IPv6 or both: one where an address is verified, or the system has no IPv6."""
    nowhere: Sequence[Asker] = ()
    """Ask, through the path, addresses that are routed and where nothing answers DNS: of IPv4, IPv6 or both."""
    title: str = ""
    nowhere_direct: Sequence[Asker] = ()
    """Ask those addresses from beyond the router or firewall."""
    _kept: Kept = field(default_factory=Kept, repr=False)

    def without(self) -> "PathSubject":
        """Give what the same items find where nothing is between client and server."""
        ways = {family: replace(way, asker=way.direct) for family, way in self.ways.items()}
        return PathSubject(ways, self.nowhere_direct, self.title)

    def renewed(self) -> "PathSubject":
        """Give the same path, of which nothing was asked."""
        return replace(self, _kept=Kept())

    def way(self, family: Family) -> Way:
        """Give the way that `lacks` has found to be there."""
        return self.ways[family]

    @property
    def families(self) -> Sequence[Family]:
        """The versions of IP by which there is a path."""
        return [family for family in FAMILIES if family in self.ways]

    @property
    def spoken(self) -> str:
        """Those versions, as they are written."""
        return " and ".join(VERSIONS[family] for family in self.families)

    def transports(self, family: Family) -> Sequence[Transport]:
        """Give the transports that pass; N-tcp says where TCP does not, and items that are not about it do without."""
        has_tcp = self._kept.once(f"{family} by TCP", lambda: self._passes_by_tcp(family))
        return ("udp", "tcp") if has_tcp else ("udp",)

    def _passes_by_tcp(self, family: Family) -> bool:
        query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True)
        return self.way(family).asker.tcp(query).message is not None

    def shut(self, family: Family) -> str:
        """Say, as a sentence, that no response at all comes by UDP, so that many queries show no more than one."""
        return self._simple(family)[0]

    def reaches(self, family: Family) -> bool:
        """Say whether of those queries any comes to the server, whatever becomes of the response."""
        return self._simple(family)[1]

    def _simple(self, family: Family) -> tuple[str, bool]:
        return self._kept.once(f"{family} by UDP", lambda: self._asked_simply(family))

    def _asked_simply(self, family: Family) -> tuple[str, bool]:
        way, query = self.way(family), plain_query()
        again = ask_again(way.asker, None, query)
        version = VERSIONS[family]
        how = "without the path" if way.asker is way.direct else "through the path"
        said = f"None of {again.controls} simple queries by UDP over {version} is answered {how}."
        return "" if again.controls_heard else said, bool(self.seen(way, query))

    def seen(self, way: Way, query: Query) -> list[Forwarded]:
        """Give what the server got and sent for a name, through the path or directly."""
        return list(way.server.seen(query.name))

    def lacks(self, need: str) -> str | None:
        """Say why an item is not applicable."""
        match need:
            case "ipv4" | "ipv6":
                return None if need in self.ways else f"There is no path by {VERSIONS[need]}."
            case _:
                raise ValueError(f"no item may need {need!r}")

    def silence(self) -> str:
        """Say that nobody answers a plain query through the path any more, by IPv4 where it is there."""
        way = next(iter(self.ways.values()))
        return way.asker.ask(plain_query()).trouble

    def lost(self, way: Way, exchange: Exchange, transport: Transport = "udp") -> Outcome:
        """Judge a query without usable response: the path's failure if the server answers the same one directly."""
        query = exchange.query
        came = [one for one in self.seen(way, query) if one.transport == transport]
        directly = way.direct.tcp(query) if transport == "tcp" else way.direct.udp(query)
        said = exchange.trouble[:1].upper() + exchange.trouble[1:].rstrip(".")
        if directly.message is None:
            return inconclusive(f"{said}; without the path there is none either.", exchange, directly)
        by_chance = "" if exchange.malformed else lost_by_chance(way.asker, exchange, plain_query)
        if by_chance:
            return inconclusive(f"{said}; {by_chance}.", exchange)
        # By its ID: the same name may have been asked for otherwise, and is asked for without the path.
        has_come = any(one.query[:2] == exchange.sent[:2] for one in came)
        way_in = "The query reaches the server" if has_come else "The query does not reach the server"
        return failed(f"{said}. {way_in}; sent without the path, it is answered.", exchange, directly)
