"""What items about paths share: what was sent at one end against what came at the other, octet by octet."""

from collections.abc import Iterator

from dnsrig.items.path._changes import changes
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject, Way
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, failed


def compare(
    subject: PathSubject, family: Family, query: Query, *, of_query: bool, transport: Transport = "udp"
) -> Outcome | None:
    """Ask, and compare the query or the response at both ends; the ID too, which no router has reason to change."""
    way = subject.way(family)
    exchange = way.asker.tcp(query) if transport == "tcp" else way.asker.udp(query)
    if exchange.response is None:
        return subject.lost(way, exchange, transport)
    seen = subject.seen(way, query)
    if not seen:
        return failed(f"{exchange.title} is answered, and has not come to the server.", exchange)
    # Where it was sent more than once, the response may be to an earlier try, which has another ID. Names that are
    # asked for often have had the ID before: the last one is meant.
    came = next((one for one in reversed(seen) if one.query[:2] == exchange.sent[:2]), seen[-1])
    if of_query and came.query != exchange.sent:
        said = f"The query is changed on the way to the server: {changes(exchange.asked, came.asked)}."
        return failed(said, exchange, *_shown(came))
    if not of_query and came.response != exchange.response:
        what = f"it cannot be parsed: {exchange.malformed}"
        if exchange.message is not None:
            what = changes(came.answer, exchange.message)
        return failed(f"The response is changed on the way from the server: {what}.", exchange, *_shown(came))
    return None


def ways(subject: PathSubject) -> Iterator[tuple[Family, Transport]]:
    """Give each version of IP with each transport that passes."""
    for family in subject.families:
        for transport in subject.transports(family):
            yield family, transport


def different(way: Way, exchange: Exchange) -> Outcome:
    """Judge a response that is there, but shorter than it should be."""
    directly = way.direct.tcp(exchange.query) if exchange.transport == "tcp" else way.direct.udp(exchange.query)
    came = f"{exchange.octets} octets{' with TC' if exchange.is_truncated else ''}"
    return failed(
        f"{came} come by {exchange.transport.upper()}; without the path {directly.octets}.",
        exchange,
        directly,
    )


def _shown(forwarded: Forwarded) -> tuple[Evidence, ...]:
    text = f";; query\n{forwarded.asked.to_text()}\n\n;; response\n{forwarded.answer.to_text()}"
    return (Evidence("at the server", text),)
