"""A resolver that resolves from the rig's tree, from a tree of the user's, or from who knows what."""

import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.errors import DnsrigError
from dnsrig.verification.anchor_trials import AnchorTrials
from dnsrig.verification.asked_again import lost_by_chance
from dnsrig.verification.asker import Asker, random_label
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.kept import Kept, kept_property
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.known_names import RIG_NAMES, UNSIGNED, KnownNames, Question
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.seen import SeenQueries, SeenQuery
from dnsrig.verification.tree.zones_good import FRESH_HOSTS, HOST
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

CONTROL_FRESH = dns.name.from_text("fresh.control.nsec.")
"""Any name below is secure, made from a wildcard."""
BOGUS_FRESH = dns.name.from_text("fresh.control-bogus.nsec.")
"""Any name below is bogus, made from a wildcard."""
UNSIGNED_FRESH = dns.name.from_text("fresh.control.unsigned.")
"""Any name below is insecure, and nothing of it can be derived from what is in the cache."""
HOSTS = dns.name.from_text("secure.nsec.")
"""It has the names h0, h1 and so on. Names from wildcards a resolver may make itself (RFC 8198 section 5.3)."""
NOT_SEEN = "What the resolver asks is seen only on the machine where dnsrig verify serve-tree serves the tree."
NO_CPU_TIME = "What CPU time is spent is seen of resolvers that the rig starts."
POINT_AT_TREE = "point it there as dnsrig verify serve-tree says"

Found = TypeVar("Found")


def simplest_query() -> Query:
    """Make the plain query that any resolver answers."""
    return Query(name=dns.name.root, rtype=RdataType.SOA, rd=True, payload=None)


@dataclass
class ResolverSubject:
    """What items of the role `resolver` are run against."""

    asker: Asker
    tree: Tree | None = None
    """The rig's tree, if it resolves from that; None: the rig has no control of its upstream."""
    seen: SeenQueries | None = None
    """What the tree's servers were asked; None where another machine serves the tree."""
    title: str = ""
    """The resolver's name and version, where the rig started it."""
    trials: AnchorTrials | None = None
    """Makes resolvers of the same kind whose trust anchors follow the root's keys (RFC 5011)."""
    no_trials: str = "Trust anchors are judged in resolvers that the rig starts, with a root whose keys change."
    """Why there are none."""
    told: KnownNames | None = None
    """What is known of another tree that it resolves from."""
    restart: Callable[[], None] | None = field(default=None, repr=False)
    """Stops it and starts it again, with an empty cache, where the rig started it."""
    spent_s: Callable[[], float] | None = field(default=None, repr=False)
    """Says how much CPU time it has used, in seconds, where the rig started it."""
    is_seen_from_start: bool = True
    """Whether `seen` is all that it ever asked; else its cache, and what it knows of servers, may be older."""
    _hosts: list[int] = field(default_factory=lambda: random.sample(range(FRESH_HOSTS), FRESH_HOSTS), repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _kept: Kept = field(default_factory=Kept, repr=False)

    def renewed(self) -> "ResolverSubject":
        """Give the same resolver, of which nothing was asked; names that were made for it before do not come again.

        One of the rig's is started again: it may keep failures for a minute (RFC 9520), and servers that did not answer
        for longer.
        """
        if self.restart is not None:
            # Where it does not come back, its silence says so, and what was found before is not lost.
            with suppress(DnsrigError):
                self.restart()
        return replace(self, _kept=Kept(), _lock=threading.RLock())

    def rows(self, item_id: str) -> Sequence[TableRow]:
        """Give the questions of the tree's table that an item asks."""
        rows = (() if self.told is None else self.told.rows) if self.tree is None else self.tree.table
        return [row for row in rows if row.case.item == item_id]

    @property
    def names(self) -> KnownNames:
        """Give what can be asked for, where `lacks` has found names to be known."""
        if self.tree is not None or self.told is None:
            return RIG_NAMES
        return self.told

    def bogus_question(self) -> Question | None:
        """Give a question whose answer is bogus, in the rig's tree a new one each time; None if none is known."""
        if self.tree is not None:
            return Question(self.fresh_name(BOGUS_FRESH), RdataType.A)
        return self.names.bogus[0] if self.names.bogus else None

    def fresh_name(self, below: dns.name.Name = CONTROL_FRESH) -> dns.name.Name:
        """Make a name that the resolver has not in its cache, below a wildcard of the tree."""
        return dns.name.Name((random_label().encode(), *below.labels))

    def fresh_host(self) -> dns.name.Name:
        """Give a secure name with records of its own that is hardly in the resolver's cache, nor derived from it."""
        with self._lock:
            number = self._hosts.pop() if self._hosts else 0
        return dns.name.from_text(f"h{number}", HOSTS)

    def seen_of(self, name: dns.name.Name) -> Sequence[SeenQuery]:
        """Give what the tree was asked for a name, whatever its case."""
        return [] if self.seen is None else self.seen.of(name)

    def cpu_s(self) -> float | None:
        """Give how much CPU time it has used, in seconds; None where that cannot be seen."""
        return None if self.spent_s is None else self.spent_s()

    def once(self, what: str, find: Callable[[], Found]) -> Found:
        """Give what items share, found by the first that asks for it."""
        return self._kept.once(what, find)

    @kept_property
    def control(self) -> Exchange:
        """The response to a query with DO for a secure name."""
        return self.asker.ask(self.names.secure.with_do)

    @kept_property
    def plain_control(self) -> Exchange:
        """The response to a query without EDNS, for a name in an unsigned zone if one is known."""
        return self.asker.ask((self.names.unsigned or self.names.secure).plain)

    @kept_property
    def bogus_control(self) -> Exchange | None:
        """The response to a query with DO for a bogus name; None if none is known."""
        question = self.bogus_question()
        return None if question is None else self.asker.ask(question.with_do)

    @kept_property
    def tcp_control(self) -> Exchange:
        """The response by TCP to a query without EDNS for a name that resolves."""
        return self.asker.tcp(self.plain_control.query)

    @property
    def has_tcp(self) -> bool:
        """Whether it answers by TCP at all."""
        return self.tcp_control.response is not None

    @property
    def sets_ad(self) -> bool:
        """Whether it sets AD with a secure name."""
        return self.control.has_flag(dns.flags.AD)

    @property
    def validates(self) -> bool:
        """Whether there is any sign of validation: AD with a secure name, or SERVFAIL with a bogus one."""
        bogus = self.bogus_control
        return self.sets_ad or (bogus is not None and bogus.rcode == dns.rcode.SERVFAIL)

    def lacks(self, need: str) -> str | None:
        """Say why an item is not applicable."""
        match need:
            case "upstream":
                return self._lacks_upstream()
            case "seen":
                return None if self.seen is not None else self._lacks_upstream() or NOT_SEEN
            case "rfc5011":
                return None if self.trials is not None else self.no_trials
            case "names":
                return self._lacks_names()
            case "dnssec":
                return self._lacks_names() or self._lacks_dnssec()
            case "validates":
                lacking = self._lacks_names() or self._lacks_dnssec()
                return lacking or (None if self.validates else "The resolver does not validate (see F-validates).")
            case "cpu":
                return None if self.spent_s is not None else NO_CPU_TIME
            case "bogus":
                known = self.bogus_question() is not None
                return self._lacks_names() or (None if known else "No bogus name is known; --bogus names one.")
            case _:
                raise ValueError(f"no item may need {need!r}")

    def _lacks_names(self) -> str | None:
        if self.tree is None and self.told is None:
            return f"Of the resolver's tree no trust anchor is known; name one by --trust-anchor, or {POINT_AT_TREE}."
        return None if self.tree is None else self._lacks_upstream()

    def _lacks_upstream(self) -> str | None:
        if self.tree is None:
            return f"The resolver does not resolve from the rig's tree; {POINT_AT_TREE}."
        exchange = self.plain_control
        if exchange.rcode == dns.rcode.NOERROR and exchange.message is not None and not exchange.message.answer:
            # Protection against rebinding answers so where it keeps addresses back.
            said = (
                f"The resolver answers {UNSIGNED} without its address {HOST}: it keeps that back, or does not resolve"
            )
            return f"{said} from the tree; {POINT_AT_TREE}."
        if exchange.message is not None and (exchange.rcode != dns.rcode.NOERROR or not exchange.message.answer):
            return f"The resolver does not find {UNSIGNED}, so it does not resolve from the tree; {POINT_AT_TREE}."
        return None

    def _lacks_dnssec(self) -> str | None:
        message = self.control.message
        rrsigs = [] if message is None else [rrset for rrset in message.answer if rrset.rdtype == RdataType.RRSIG]
        # A malfunction of DO is one item's matter; a resolver that does not answer at all is every item's.
        if rrsigs or (message is None and self.plain_control.message is None):
            return None
        if self.control.rcode == dns.rcode.SERVFAIL:
            return f"The resolver answers {self.names.secure}, which is to be secure, with SERVFAIL (see F-do)."
        return "The resolver gives no signatures to queries with DO (see F-do)."

    def silence(self) -> str:
        """Say that the resolver does not answer a plain query for the root's SOA record any more."""
        with self._lock:
            return self.asker.ask(simplest_query()).trouble

    def unanswered(self, exchange: Exchange) -> Outcome:
        """Judge a query without usable response: a failure if the resolver answers others, else no verdict."""
        said = exchange.trouble[:1].upper() + exchange.trouble[1:].rstrip(".")
        if exchange.malformed:
            return failed(f"{said}.", exchange)
        if exchange.message is not None:
            code = dns.rcode.to_text(exchange.message.rcode())
            return inconclusive(f"{exchange.title} gives {code}, and nothing that this item is about.", exchange)
        silence = self.silence()
        if silence:
            return inconclusive(f"The resolver does not answer the simplest question either: {silence}.", exchange)
        if exchange is not self.tcp_control and not self.has_tcp and self.control.message is not None:
            # Many of these ask nobody by TCP either, and try for long: silence tells nothing of what items are about.
            return inconclusive(f"{said}; the resolver does not answer by TCP at all (see F-tcp).", exchange)
        if lost := lost_by_chance(self.asker, exchange, simplest_query):
            return inconclusive(f"{said}; {lost}.", exchange)
        return failed(f"{said}, while others are answered.", exchange)
