"""Finding out, before anything else, whether somebody answers at an address, and how soon."""

from collections.abc import Callable

import dns.flags

from dnsrig.errors import SubjectFailedError
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Role
from dnsrig.verification.queries import Query

SLOW_MS = 1000.0
"""A response that takes longer is too late for most resolvers, which ask another server by then."""
LIMIT_S = 120.0
"""How long the items of a target at an address may take in all: several times what a server takes that answers."""
SLOW_LIMIT_S = 8.0
"""The same for one that takes longer than SLOW_MS for the simplest question, twice."""


def reach(asker: Asker, simplest: Query, target: str, advice: str) -> tuple[Exchange, float]:
    """Ask the simplest question; give its exchange, and how long the items of the target may take, in seconds.

    Raises:
        SubjectFailedError: there is no response that can be read; `advice` is a question that helps the user.

    """

    def ask() -> Exchange:
        return asker.ask(simplest)

    first = _first_response(ask, target, advice)
    return first, _limit_after(first, ask)


def limit_of(ask: Callable[[], Exchange], target: str, advice: str) -> float:
    """Give how long the items of a target may take, by whatever asks; what it raises is that of `reach`."""
    return _limit_after(_first_response(ask, target, advice), ask)


def other_role(exchange: Exchange, role: Role) -> str:
    """Say, as a sentence, that what answered looks like a server of another role; "" if it does not.

    The exchange is of a query for a zone's SOA record, to an authoritative server without RD, to a resolver with it.
    """
    has_ra, has_aa = exchange.has_flag(dns.flags.RA), exchange.has_flag(dns.flags.AA)
    if exchange.message is None:
        return ""
    if role == "authoritative" and has_ra and not has_aa:
        return f"{exchange.server} looks like a resolver (it sets RA, and not AA): dnsrig verify resolver is for those"
    if role == "resolver" and not has_ra:
        said = "looks like an authoritative server (it does not set RA)"
        return f"{exchange.server} {said}: dnsrig verify authoritative is for those"
    return ""


def _first_response(ask: Callable[[], Exchange], target: str, advice: str) -> Exchange:
    exchange = ask()
    if trouble := exchange.trouble:
        raise SubjectFailedError(f"{target}: {trouble}{_besides(exchange)}; {advice}")
    return exchange


def _limit_after(first: Exchange, ask: Callable[[], Exchange]) -> float:
    is_slow = _is_slow(first) and _is_slow(ask())
    return SLOW_LIMIT_S if is_slow else LIMIT_S


def _is_slow(exchange: Exchange) -> bool:
    return exchange.trouble != "" or exchange.elapsed_ms > SLOW_MS


def _besides(exchange: Exchange) -> str:
    if not exchange.strays:
        return ""
    return ", though messages came that are no responses to it (another ID, or no DNS response at all)"
