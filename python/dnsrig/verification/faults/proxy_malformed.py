"""Faults of DNS proxies that show with messages that cannot be parsed."""

import dns.exception
import dns.message

from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.item import Role

PROXY: tuple[Role, ...] = ("proxy",)
DEAD = "dead"


def _is_malformed(message: bytes) -> bool:
    try:
        # Whether a signature is right does not matter here.
        dns.message.from_wire(message, keyring=False)
    except (dns.exception.DNSException, ValueError):
        return True
    return False


def _die_of_query(passage: Passage) -> bytes | None:
    if _is_malformed(passage.query):
        passage.memory.add(DEAD)
    return _if_alive(passage)


def _die_of_response(passage: Passage) -> bytes | None:
    if _is_malformed(passage.response):
        passage.memory.add(DEAD)
    return None if DEAD in passage.memory else passage.response


def _if_alive(passage: Passage) -> bytes | None:
    return None if DEAD in passage.memory else passage.query


FAULTS = (
    Fault(
        name="proxy-dies-of-garbage",
        does="answers nothing more after a message from a client that cannot be parsed",
        roles=PROXY,
        on_query=_die_of_query,
    ),
    Fault(
        name="proxy-dies-of-malformed-responses",
        does="answers nothing more after a response from its upstream that cannot be parsed",
        roles=PROXY,
        on_query=_if_alive,
        on_response=_die_of_response,
    ),
)
