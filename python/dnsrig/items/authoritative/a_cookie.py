"""A-cookie: DNS cookies."""

import dns.edns

from dnsrig.items.authoritative._probes import edns_soa_query, wrong_soa
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

COOKIE = dns.edns.OptionType.COOKIE
CLIENT = bytes.fromhex("646e737269670a0b")
SHORTEST, LONGEST = 16, 40
"""Octets of both cookies (RFC 7873 section 4)."""
ITEM = Item(
    id="A-cookie",
    role="authoritative",
    group="Extensions",
    requirement=(
        "A server that uses cookies gives the client's back with its own, to those that send one, and takes its "
        "own again."
    ),
    references=("RFC 7873 section 5.2", "RFC 9018 section 4"),
    severity=Severity.NOTICE,
    consequence=(
        "Clients with cookies drop the responses, or are told BADCOOKIE again and again: to them the server is dead."
    ),
    procedure="The SOA record is asked for without a cookie, with a client cookie, and with both cookies as they came.",
    dig=(
        "dig @{server} -p {port} {zone} SOA +norec +nocookie",
        "dig @{server} -p {port} {zone} SOA +norec +cookie=646e737269670a0b",
    ),
    needs=("zone", "edns"),
    faults=("cookie-unasked", "wrong-client-cookie", "badcookie"),
    is_of_server=True,
)


def _cookie(exchange: Exchange) -> bytes:
    """Give the cookies of the response, b"" if it has none."""
    options = () if exchange.message is None else exchange.message.options
    return next((option.to_wire() or b"" for option in options if option.otype == COOKIE), b"")


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask as a client does that learns the server's cookie."""
    without = subject.asker.udp(edns_soa_query(subject))
    if without.message is None:
        return subject.unanswered(without)
    if _cookie(without):
        return failed("The response has a cookie, though the query had none.", without)
    first = subject.asker.udp(edns_soa_query(subject, options=(dns.edns.GenericOption(COOKIE, CLIENT),)))
    if first.message is None:
        return subject.unanswered(first)
    cookie = _cookie(first)
    if not cookie:
        return not_applicable("The server does not use cookies.", first)
    if not cookie.startswith(CLIENT):
        return failed("The response has another client cookie than the query.", first)
    if not SHORTEST <= len(cookie) <= LONGEST:
        return failed(f"The cookies have {len(cookie)} octets, not {SHORTEST} to {LONGEST}.", first)
    second = subject.asker.udp(edns_soa_query(subject, options=(dns.edns.GenericOption(COOKIE, cookie),)))
    wrong = wrong_soa(subject, second)
    if wrong is not None:
        return wrong
    return passed(f"The server's cookie has {len(cookie) - len(CLIENT)} octets, and it takes it again.", first, second)
