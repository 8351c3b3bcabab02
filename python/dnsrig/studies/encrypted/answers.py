"""Are the answers over TCP, DoT and DoH those over UDP? Asked before a server is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import dns.exception
import dns.message
import dns.query

from dnsrig.servers.encrypted_readiness import ask_doh, ask_dot
from dnsrig.servers.interruption import raise_interruption
from dnsrig.servers.transports import LABELS
from dnsrig.studies.answer_check import TIMEOUT_S

Ask = Callable[[str, int, dns.message.Message], dns.message.Message]


def _ask_udp(address: str, port: int, query: dns.message.Message) -> dns.message.Message:
    return dns.query.udp(query, address, timeout=TIMEOUT_S, port=port)


def _ask_tcp(address: str, port: int, query: dns.message.Message) -> dns.message.Message:
    return dns.query.tcp(query, address, timeout=TIMEOUT_S, port=port)


_ASK: Mapping[str, Ask] = {"udp": _ask_udp, "tcp": _ask_tcp, "dot": ask_dot, "doh": ask_doh}
"""How transports are asked. Of answers over QUIC only rcodes and octets are looked at, by the load's own report."""


@dataclass(frozen=True, slots=True)
class TransportCheck:
    """The size of a query's answer over UDP, if there is one, and how that over another transport differs from it."""

    octets: int | None
    faults: tuple[str, ...]


def check_transport(endpoints: Mapping[str, tuple[str, int]], transport: str, wire: bytes) -> TransportCheck:
    """Ask one query over UDP and over a transport, and compare the answers whatever the order of their records."""
    udp = _answer("udp", endpoints["udp"], wire)
    if isinstance(udp, str):
        return TransportCheck(None, (f"no usable answer over UDP: {udp}",))
    octets = len(udp.wire or udp.to_wire())
    if transport not in _ASK or transport == "udp":
        return TransportCheck(octets, ())
    other = _answer(transport, endpoints[transport], wire)
    if isinstance(other, str):
        return TransportCheck(octets, (f"no usable answer over {LABELS[transport]}: {other}",))
    same = other == udp and len(other.wire or other.to_wire()) == octets
    return TransportCheck(octets, () if same else (f"the answer over {LABELS[transport]} is not the one over UDP",))


def _answer(transport: str, endpoint: tuple[str, int], wire: bytes) -> dns.message.Message | str:
    """Give the answer, or say in words why there is none."""
    try:
        return _ASK[transport](*endpoint, dns.message.from_wire(wire))
    except (dns.exception.DNSException, OSError, EOFError) as error:
        raise_interruption(error)
        return str(error) or type(error).__name__
