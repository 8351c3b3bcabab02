"""What the tree's servers were asked: what items about a resolver's own queries judge."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import dns.edns
import dns.flags
import dns.message
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Transport

LONGEST = 200_000
"""More queries than this are not kept; the oldest go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenQuery:
    """A query that came to the tree, as it came."""

    at_s: float
    """On the clock of `time.monotonic`."""
    server: str
    """The address that was asked."""
    source: str
    source_port: int
    transport: Transport
    id: int
    name: dns.name.Name
    """In the case that it was asked in."""
    rtype: RdataType
    flags: int
    """Of the header."""
    edns: int
    """The version, -1 without EDNS."""
    edns_flags: int
    payload: int
    options: tuple[dns.edns.Option, ...]
    wire: bytes

    @property
    def do(self) -> bool:
        """Whether DNSSEC records were asked for."""
        return bool(self.edns_flags & dns.flags.DO)


@dataclass
class SeenQueries:
    """All that came, in its order; used by several threads."""

    _queries: list[SeenQuery] = field(default_factory=list)
    _by_name: defaultdict[dns.name.Name, list[SeenQuery]] = field(default_factory=lambda: defaultdict(list))
    """The same by name, whatever its case."""
    _dropped: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        query: dns.message.Message,
        wire: bytes,
        transport: Transport,
        server: str,
        source: tuple[str, int],
        *,
        at_s: float | None = None,
    ) -> SeenQuery:
        """Keep a query that has a question, and give it as it is kept; it came now, if not at a time that is known."""
        question = query.question[0]
        seen = SeenQuery(
            at_s=time.monotonic() if at_s is None else at_s,
            server=server,
            source=source[0],
            source_port=source[1],
            transport=transport,
            id=query.id,
            name=question.name,
            rtype=RdataType.make(question.rdtype),
            flags=int(query.flags),
            edns=query.edns,
            edns_flags=query.ednsflags if query.edns >= 0 else 0,
            payload=query.payload if query.edns >= 0 else 0,
            options=tuple(query.options),
            wire=wire,
        )
        with self._lock:
            self._queries.append(seen)
            self._by_name[seen.name].append(seen)
            if len(self._queries) > LONGEST:
                self._drop(LONGEST // 2)
        return seen

    def _drop(self, count: int) -> None:
        """Forget the first `count`."""
        del self._queries[:count]
        self._dropped += count
        self._by_name.clear()
        for query in self._queries:
            self._by_name[query.name].append(query)

    def __len__(self) -> int:
        """Count all that came since the beginning."""
        with self._lock:
            return self._dropped + len(self._queries)

    def since(self, count: int) -> list[SeenQuery]:
        """Give what came after the first `count` queries."""
        with self._lock:
            return self._queries[max(count - self._dropped, 0) :]

    def of(self, name: dns.name.Name) -> list[SeenQuery]:
        """Give the queries for a name, whatever its case."""
        with self._lock:
            return list(self._by_name.get(name, ()))

    def below(self, name: dns.name.Name, since: int = 0) -> Iterable[SeenQuery]:
        """Give the queries at and below a name."""
        return [query for query in self.since(since) if query.name.is_subdomain(name)]
