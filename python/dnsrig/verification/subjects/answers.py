"""Responses that several items look at: each question is asked once."""

import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import dns.message
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import USUAL_PAYLOAD, Query

OLD_LIMIT = 512
"""Octets by UDP without EDNS (RFC 1035 section 4.2.1)."""


@dataclass
class Answers:
    """Asks one server and keeps what it said, for items about what responses say, not about how they come.

    So a response may come by TCP, where UDP stays silent or is truncated, or leaves records out without saying so.
    """

    asker: Asker
    large: Sequence[tuple[dns.name.Name, RdataType]] = ()
    """Questions with large responses, by which it is found out whether those by UDP are whole."""
    _asked: dict[Query, Future[Exchange]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _trying: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _only_by_tcp: bool | None = None

    def get(self, name: dns.name.Name, rtype: RdataType, *, do: bool = True) -> Exchange:
        """Give the response to a question, with DO, or without EDNS."""
        query = Query(name=name, rtype=rtype, do=do, payload=USUAL_PAYLOAD if do else None)
        with self._lock:
            waiting = self._asked.get(query)
            is_new = waiting is None
            if waiting is None:
                waiting = self._asked[query] = Future()
        if is_new:
            try:
                waiting.set_result(self._ask(query))
            except BaseException as error:
                waiting.set_exception(error)
                raise
        return waiting.result()

    def _ask(self, query: Query) -> Exchange:
        with self._trying:
            if self._only_by_tcp is None:
                self._only_by_tcp = self._are_cut()
        if self._only_by_tcp:
            return self.asker.tcp(query)
        exchange = self.asker.ask(query)
        if exchange.response is not None or exchange.transport == "tcp":
            return exchange
        by_tcp = self.asker.tcp(query)
        if by_tcp.response is None:
            return exchange
        # Other items say that UDP is silent; waiting for it each time would take minutes.
        self._only_by_tcp = True
        return by_tcp

    def _are_cut(self) -> bool:
        """Whether large responses by UDP lack records, without TC; items about size say so."""
        for name, rtype in self.large:
            query = Query(name=name, rtype=rtype, do=True, payload=USUAL_PAYLOAD)
            by_udp = self.asker.udp(query)
            if by_udp.message is None or by_udp.octets > OLD_LIMIT:
                return False
            if by_udp.is_truncated:
                continue
            by_tcp = self.asker.tcp(query)
            if by_tcp.message is None:
                return False
            here, there = _records(by_udp.message), _records(by_tcp.message)
            if any(count > here[kind] for kind, count in there.items()):
                return True
        return False


def _records(message: dns.message.Message) -> Counter[tuple[dns.name.Name, int, int]]:
    """Count the records of answer and authority section; NS records need not come with an answer."""
    counts: Counter[tuple[dns.name.Name, int, int]] = Counter()
    for rrset in (*message.answer, *message.authority):
        if RdataType.NS not in {rrset.rdtype, rrset.covers}:
            counts[rrset.name, rrset.rdtype, rrset.covers] += len(rrset)
    return counts
