"""What items about single odd queries share: a name that resolves, and whether it does."""

from dataclasses import replace
from typing import Any

import dns.flags
import dns.rcode

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

SHORT_WAITS_S = (1.5, 1.5)
"""For messages that need not be answered."""


def plain_query(subject: ResolverSubject, **fields: Any) -> Query:  # noqa: ANN401 (those of Query)
    """Ask for a name that resolves, without EDNS unless `fields` have a payload."""
    return replace((subject.names.unsigned or subject.names.secure).plain, **fields)


def hasty(subject: ResolverSubject) -> Asker:
    """Give an asker that does not wait long, for what needs no response."""
    return replace(subject.asker, udp_waits_s=SHORT_WAITS_S)


def rcode_text(exchange: Exchange) -> str:
    """Give the response code's mnemonic."""
    return "none" if exchange.rcode is None else dns.rcode.to_text(exchange.rcode)


def wrong_answer(subject: ResolverSubject, exchange: Exchange, what: str) -> Outcome | None:
    """Judge a response that should have the records; None if it has. `what` is the query, in words."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode == dns.rcode.NOERROR and (exchange.message.answer or exchange.is_truncated):
        return None
    said = "no records" if exchange.rcode == dns.rcode.NOERROR else rcode_text(exchange)
    control = subject.asker.ask(plain_query(subject))
    if control.rcode != dns.rcode.NOERROR:
        return inconclusive(f"Usual queries get {rcode_text(control)} too.", exchange, control)
    return failed(f"{what} gets {said}, while usual ones are answered.", exchange, control)


def has_flag(exchange: Exchange, flag: int) -> bool:
    """Say whether a bit of the header is set, reserved ones too."""
    return exchange.message is not None and bool(int(exchange.message.flags) & flag)
