"""Responses that several items look at: each question is asked once."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import USUAL_PAYLOAD, Query


@dataclass
class Answers:
    """Asks one server and keeps what it said, for items about what responses say, not about how they come.

    So a response may come by TCP, where UDP stays silent or is truncated.
    """

    asker: Asker
    _asked: dict[Query, Future[Exchange]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _only_by_tcp: bool = False

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
