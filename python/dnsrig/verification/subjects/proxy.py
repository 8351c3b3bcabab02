"""A DNS proxy (RFC 5625) whose upstream is a server of the rig, or that is only asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.asked_again import lost_by_chance
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.kept import kept_property
from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.upstream.server import Forwarded, Upstream
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

POINT_AT_UPSTREAM = "let it forward to the address of --upstream, where the rig answers"

NO_OUTER = "No outer address of the proxy is known; --outer names it."


@dataclass(frozen=True, slots=True)
class Through:
    """A query to the proxy with its response, and what passed between the proxy and its upstream for it."""

    client: Exchange
    forwarded: Sequence[Forwarded]
    """Empty where the proxy answered itself, or dropped the query."""

    @property
    def upstream(self) -> Forwarded | None:
        """What passed last."""
        return self.forwarded[-1] if self.forwarded else None


@dataclass
class ProxySubject:
    """What items of the role `proxy` are run against."""

    asker: Asker
    upstream: Upstream | None = None
    """Where it forwards to; None: the rig has no control of that."""
    wan: Sequence[Asker] = ()
    """Ask the proxy at its outer addresses, one each, from the outer side."""
    title: str = ""
    """The proxy's name and version, where the rig started it."""
    direct: Asker | None = None
    """Asks the upstream without the proxy; None where there is no upstream of the rig's."""
    lacks_wan: str = NO_OUTER
    """Why there is no `wan`, as a sentence."""
    passed: list[Through] = field(default_factory=list, repr=False)
    """What passed when the proxy was asked by `ask`, till now."""

    def without(self) -> "ProxySubject":
        """Give what the same items find where the upstream is asked itself.

        Raises:
            ValueError: the upstream is not the rig's.

        """
        if self.direct is None:
            raise ValueError("there is no upstream that could be asked without the proxy")
        return ProxySubject(self.direct, self.upstream, (), self.title, self.direct)

    def renewed(self) -> "ProxySubject":
        """Give the same proxy, of which nothing was asked."""
        return replace(self, passed=[])

    @property
    def is_without(self) -> bool:
        """Whether it is the upstream itself that is asked."""
        return self.asker is self.direct

    def ask(self, query: Query, transport: Transport = "udp") -> Through:
        """Ask the proxy by one transport, without going on by TCP."""
        before = len(self.seen(query.name))
        exchange = self.asker.tcp(query) if transport == "tcp" else self.asker.udp(query)
        through = Through(exchange, self.seen(query.name)[before:])
        self.passed.append(through)
        return through

    def seen(self, name: dns.name.Name) -> Sequence[Forwarded]:
        """Give what came to the upstream for a name."""
        return [] if self.upstream is None else self.upstream.seen(name)

    @kept_property
    def plain(self) -> Through:
        """A query for an address, without EDNS."""
        return self.ask(plain_query())

    @kept_property
    def with_do(self) -> Through:
        """A query for an address, with DO."""
        return self.ask(Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, do=True))

    @kept_property
    def has_tcp(self) -> bool:
        """Whether it answers by TCP at all; P-tcp says so where it does not, and other items do without."""
        return self.ask(plain_query(), "tcp").client.message is not None

    @property
    def transports(self) -> Sequence[Transport]:
        """The transports by which it answers."""
        return ("udp", "tcp") if self.has_tcp else ("udp",)

    def lacks(self, need: str) -> str | None:
        """Say why an item is not applicable."""
        match need:
            case "upstream":
                return self._lacks_upstream
            case "edns":
                return self._lacks_upstream or self._lacks_edns
            case "dnssec":
                return self._lacks_upstream or self._lacks_dnssec
            case "tcp":
                return self._lacks_upstream or (None if self.has_tcp else "It does not answer by TCP (see P-tcp).")
            case "between":
                return "No proxy stands before the upstream here." if self.is_without else None
            case "wan":
                return None if self.wan else self.lacks_wan
            case _:
                raise ValueError(f"no item may need {need!r}")

    @kept_property
    def _lacks_upstream(self) -> str | None:
        if self.upstream is None:
            return f"What the proxy's upstream gets and sends cannot be seen; {POINT_AT_UPSTREAM}."
        client = self.plain.client
        if client.message is None or self.plain.forwarded or self.with_do.forwarded:
            return None
        addresses = [record.to_text() for rrset in client.message.answer for record in rrset]
        given = addresses[0] if addresses else dns.rcode.to_text(client.message.rcode())
        came = "nothing has come" if not self.upstream.everything() else "these queries have not come"
        return (
            f"The proxy answers the rig's names by {given}, and {came} to the rig at {self.upstream.endpoint}: let the "
            "proxy forward to there."
        )

    @kept_property
    def _lacks_edns(self) -> str | None:
        passage = self.with_do
        if passage.client.message is None:
            return "Queries with EDNS are not answered (see P-1)."
        if passage.upstream is None or passage.upstream.asked.edns < 0 or passage.client.message.edns < 0:
            return "EDNS does not pass the proxy (see P-1)."
        return None

    @kept_property
    def _lacks_dnssec(self) -> str | None:
        message = self.with_do.client.message
        if message is None or not any(rrset.rdtype == RdataType.RRSIG for rrset in message.answer):
            return "No signatures come to a client that sets DO (see P-1)."
        return None

    def silence(self) -> str:
        """Say that the proxy does not answer a plain query any more."""
        return self.ask_simplest().trouble

    def ask_simplest(self) -> Exchange:
        """Ask a plain query by UDP, each time for another name."""
        return self.asker.udp(plain_query())

    def unanswered(self, through: Through) -> Outcome:
        """Judge a query without usable response: a failure if the proxy answers others, else no verdict."""
        exchange = through.client
        said = exchange.trouble[:1].upper() + exchange.trouble[1:].rstrip(".")
        if exchange.malformed:
            return failed(f"{said}.", exchange)
        silence = self.silence()
        if silence:
            return inconclusive(f"The proxy does not answer the simplest question either: {silence}.", exchange)
        lost = lost_by_chance(self.asker, exchange, plain_query)
        if lost:
            return inconclusive(f"{said}; {lost}.", exchange)
        where = "the upstream answered" if through.forwarded else "the query did not come to the upstream"
        return failed(f"{said}; {where}, and others are answered.", exchange)
