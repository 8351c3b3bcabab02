"""What a fault is: a change of what passes between a client and a server that is right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import dns.exception
import dns.message
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Transport
from dnsrig.verification.item import Role


@dataclass(slots=True)
class Passage:
    """A query on its way to the server that is right, and its response on the way back."""

    query: bytes
    """As the client sent it."""
    transport: Transport
    response: bytes = b""
    """As the server that is right gave it; b"" while the query is on its way."""
    memory: set[str] = field(default_factory=set)
    """What the faulty one keeps in mind from one message to the next; the relay's passages share it."""

    cache: dict[object, tuple[bytes, float]] = field(default_factory=dict)
    """Responses that the faulty one keeps, and when they came by the monotonic clock; shared as `memory` is."""
    instead: bytes | None = None
    """Set by a change of the query: the response that goes back without asking the server that is right."""

    @property
    def asked(self) -> dns.message.Message:
        """The query, parsed.

        Raises:
            dns.exception.DNSException: it cannot be parsed.

        """
        return dns.message.from_wire(self.query)

    @property
    def answer(self) -> dns.message.Message:
        """The response, parsed; changing it changes nothing but this copy."""
        return dns.message.from_wire(self.response, one_rr_per_rrset=self._is_of_transfer)

    @property
    def _is_of_transfer(self) -> bool:
        """Whether the client asked for a zone transfer, whose records must stay in order, with the SOA record twice."""
        try:
            question = self.asked.question
        except dns.exception.DNSException:
            return False
        return bool(question) and question[0].rdtype in {RdataType.AXFR, RdataType.IXFR}


Change = Callable[[Passage], bytes | None]
"""Gives the message that goes on; None drops it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a server or a proxy does wrong."""

    name: str
    """Such as `strips-opt`."""
    does: str
    """What it does, in words that go on after "The server" or "The proxy"."""
    roles: tuple[Role, ...]
    """Whose fault it can be."""
    needs: tuple[str, ...] = ()
    """What a target must have for the fault to show, by names that the subject's `lacks` knows."""
    seen_in: str = ""
    """Where it was seen in practice."""
    on_query: Change | None = None
    """Changes queries before the server that is right gets them."""
    on_response: Change | None = None
    changes_transfers: bool = False
    """`on_response` is for the messages of zone transfers too, each of which it gets."""
    refuses_tcp: bool = False
    """Nothing listens on TCP."""
    closes_tcp_after_one: bool = False
    """A TCP connection is closed after its first response."""
    discards_pipelined: bool = False
    """What comes by TCP together with a query, or before its response, is thrown away."""
    needs_whole_queries: bool = False
    """A TCP connection is closed where a query comes in more than one segment, or with others in one."""
    needs_whole_responses: bool = False
    """What the first segment of the server's response by TCP does not have is taken for missing."""
    serves_one_connection: bool = False
    """Other TCP connections wait until one is closed."""
    other_source_port: bool = False
    """Responses by UDP come from another port than the one that was asked."""
    fixed_source_port: bool = False
    """All queries by UDP to the server that is right leave from one port, one after the other."""
    listens_everywhere: bool = False
    """Queries to any address of the host are answered, not only to the one that is meant."""
    answers_outside: Callable[[bytes, bool], bool] | None = None
    """Says whether a query by UDP to an outer address, which is of IPv6 or not, is answered; None: nothing listens."""
    answers_twice: bool = False
    """Every response by UDP is sent twice."""
    answers_once_a_port: bool = False
    """After a query by UDP, others from the same port are dropped for a second."""
    closes_after_response: bool = False
    """After a response by UDP, those to other queries that were under way from the same port are dropped."""
    mixes_clients: bool = False
    """Responses by UDP go to the client that used their ID last."""
    believes: Literal["nothing", "id", "question", "source", "address"] = "nothing"
    """What is wrong with a response by UDP that it takes all the same."""
    delay_s: float = 0.0
    """Responses by UDP are held back for so long."""
    swaps_beyond: int = 0
    """Beyond so many queries by UDP at a time, clients get the responses of others; 0 is never."""
    most_at_once: int = 0
    """Queries by UDP beyond so many at a time are dropped; 0 is without limit."""


def unchanged_if_unreadable(change: Callable[[Passage], bytes | None]) -> Change:
    """Let a message pass that the change cannot parse, as such servers do."""

    def changed(passage: Passage) -> bytes | None:
        try:
            return change(passage)
        except dns.exception.DNSException:
            return passage.response or passage.query

    return changed


def wire_of(message: dns.message.Message) -> bytes:
    """Give a message that was changed as octets, however many."""
    return message.to_wire(max_size=65_535)
