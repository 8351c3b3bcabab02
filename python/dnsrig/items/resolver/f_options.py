"""F-options: OPT records and EDNS options that were not asked for."""

from dataclasses import replace

import dns.edns
import dns.rcode

from dnsrig.items.resolver._usual import judged, usual_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

UNKNOWN_OPTION = dns.edns.OptionType.make(65_001)
"""Of the range for local and experimental use (RFC 6891 section 9)."""
ITEM = Item(
    id="F-options",
    role="resolver",
    group="Messages",
    requirement=(
        "Responses to queries without OPT have none, and an EDNS option that the resolver does not know changes "
        "nothing."
    ),
    references=("RFC 6891 section 7", "RFC 6891 section 6.1.2"),
    severity=Severity.WARNING,
    consequence=(
        "Old stubs and routers cannot read the responses; and clients that offer a new option take an echo for "
        "support, or get no data."
    ),
    procedure=(
        "Names of several kinds are asked for with RD and without EDNS, by UDP and by TCP: no response has an OPT "
        "record. A name is asked for with DO and EDNS option 65001: the response is as without, and has not this "
        "option."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +noedns",
        "dig @{server} -p {port} www.control.nsec. A +dnssec +ednsopt=65001:64",
    ),
    needs=("names",),
    faults=("answers-with-opt-always", "echoes-client-options", "refuses-client-options"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at usual responses without EDNS, and at one to a query with an unknown option."""
    plain = [exchange for exchange in usual_responses(subject) if exchange.query.payload is None]
    if not plain:
        return subject.unanswered(subject.plain_control)
    found = [(exchange, _unasked(exchange)) for exchange in plain]
    if subject.lacks("dnssec") is None and subject.control.message is not None:
        option = dns.edns.GenericOption(UNKNOWN_OPTION, b"dnsrig")
        exchange = subject.asker.ask(replace(subject.names.secure.with_do, options=(option,)))
        if exchange.message is None:
            return subject.unanswered(exchange)
        found.append((exchange, _about_option(exchange, subject.control)))
    return judged(found, "no OPT record and no option came that was not asked for")


def _unasked(exchange: Exchange) -> str:
    message = exchange.message
    return "the response has an OPT record, the query none" if message is not None and message.edns >= 0 else ""


def _about_option(exchange: Exchange, without: Exchange) -> str:
    message = exchange.message
    if message is not None and any(int(option.otype) == UNKNOWN_OPTION for option in message.options):
        return f"the response has EDNS option {int(UNKNOWN_OPTION)}, which the resolver cannot know"
    given, usual = (dns.rcode.to_text(one.rcode or dns.rcode.NOERROR) for one in (exchange, without))
    # SERVFAIL may be of an upstream that lost a message.
    if given in {usual, "SERVFAIL"}:
        return ""
    return f"with EDNS option {int(UNKNOWN_OPTION)} the response has {given}, without {usual}"
