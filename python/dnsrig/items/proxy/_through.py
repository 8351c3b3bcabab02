"""What most items share: ask through the proxy, and compare what its upstream sent with what the client got."""

from collections.abc import Callable, Iterable, Sequence

import dns.flags
import dns.message
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.transparency import records, without_dnssec
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.server import Forwarded
from dnsrig.verification.verdicts import Evidence, Outcome, failed, not_applicable

Differ = Callable[[dns.message.Message, dns.message.Message], list[str]]
"""Says, as clauses, how the message that came out differs from the one that went in."""
SHOWN = 3


def no_difference(_went_in: dns.message.Message, _came_out: dns.message.Message) -> list[str]:
    """Compare nothing."""
    return []


def ask_whole(subject: ProxySubject, query: Query) -> Through:
    """Ask by UDP, and by TCP if the response is truncated, for items that are not about size."""
    through = subject.ask(query)
    return subject.ask(query, "tcp") if through.client.is_truncated else through


def lost(subject: ProxySubject, through: Through) -> Outcome | None:
    """Judge a query that the proxy did not answer, or answered without asking; None if it passed."""
    if through.client.message is None:
        return subject.unanswered(through)
    if through.upstream is None:
        rcode = dns.rcode.to_text(through.client.rcode or dns.rcode.NOERROR)
        asked = f"{through.client.query.name} {through.client.query.rtype.name}"
        return failed(f"The proxy answers {asked} with {rcode} without having asked its upstream.", through.client)
    return None


def wrong_rcode(through: Through) -> Outcome | None:
    """Judge the response code to a name that has data: where it is an error, its size tells nothing."""
    rcode = through.client.rcode
    if rcode is None or rcode == dns.rcode.NOERROR:
        return None
    by = "" if through.client.transport == "udp" else " by TCP"
    said = f"The response{by} is {dns.rcode.to_text(rcode)}"
    sent = (
        "the upstream was not asked" if through.upstream is None else f"the upstream's is {_rcode_of(through.upstream)}"
    )
    return failed(f"{said}, and {sent}.", through.client, *at_upstream(through.upstream))


def _rcode_of(forwarded: Forwarded) -> str:
    return dns.rcode.to_text(forwarded.answer.rcode())


def by_tcp_alone(forwarded: Sequence[Forwarded]) -> Outcome | None:
    """Say that items about datagrams have none to look at: some proxies ask their upstream by TCP, as they are told."""
    if {one.transport for one in forwarded} != {"tcp"}:
        return None
    return not_applicable("The proxy asks its upstream by TCP alone, and this is about UDP.")


def differences(through: Through, of_query: Differ, of_response: Differ) -> list[str]:
    """Compare both messages of a query that passed."""
    message, upstream = through.client.message, through.upstream
    if message is None or upstream is None:
        return []
    sent = through.client.asked
    given = upstream.answer if through.client.query.do else without_dnssec(upstream.answer)
    found = [f"in the query, {said}" for said in of_query(sent, upstream.asked)]
    return found + [f"in the response, {said}" for said in of_response(given, message)]


def compare(
    subject: ProxySubject,
    query: Query,
    *,
    of_query: Differ = no_difference,
    of_response: Differ = no_difference,
    transport: Transport = "udp",
) -> Outcome | Through:
    """Ask, and give what went wrong, or what passed."""
    through = ask_whole(subject, query) if transport == "udp" else subject.ask(query, "tcp")
    wrong = lost(subject, through)
    if wrong is not None:
        return wrong
    found = differences(through, of_query, of_response)
    return changed(through, found) if found else through


def with_and_without_do(subject: ProxySubject, whats: Iterable[str]) -> Sequence[Query]:
    """Give queries for addresses without EDNS, and with DO where signatures come to the client (see P-1)."""
    asked = list(whats)
    plain = [Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=None) for what in asked]
    if subject.lacks("dnssec") is not None:
        return plain
    return [*plain, *(Query(name=names.fresh(what), rtype=RdataType.A, rd=True, do=True) for what in asked)]


def changed(through: Through, found: list[str]) -> Outcome:
    """Say that the proxy changes what it should not."""
    said = "; ".join(found[:SHOWN]) + (f"; {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    return failed(f"{said[:1].upper()}{said[1:]}.", through.client, *at_upstream(through.upstream))


def at_upstream(forwarded: Forwarded | None) -> tuple[Evidence, ...]:
    """Show what the upstream got and sent."""
    if forwarded is None:
        return ()
    text = f";; query\n{forwarded.asked.to_text()}\n\n;; response\n{forwarded.answer.to_text()}"
    return (Evidence(f"at the upstream, by {forwarded.transport.upper()}", text),)


def is_whole(subject: ProxySubject, through: Through) -> bool:
    """Say whether the client has all records of the answer, as the upstream gave it by either transport.

    Signatures are another item's matter.
    """
    message = through.client.message
    sent = [one.answer for one in subject.seen(through.client.query.name)]
    complete = [without_dnssec(answer) for answer in sent if not answer.flags & dns.flags.TC]
    if message is None or message.flags & dns.flags.TC:
        return False
    return any(records(answer.answer) <= records(message.answer) for answer in complete)


def octets_by_tcp(through: Through, octets: int) -> str:
    """Say how much of a response of so many octets came by TCP, as what follows "it has", where it is not whole."""
    client = through.client
    said = f"{client.octets} octets of {octets}"
    return f"{said}, and TC, by which the client takes it for a part" if client.is_truncated else said
