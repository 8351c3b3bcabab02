"""F-own-options: EDNS options of clients stay with the resolver."""

from dataclasses import replace

import dns.edns
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._failures import list_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import UNSIGNED_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

UNKNOWN_OPTION = dns.edns.OptionType.make(65_001)
COOKIE = b"dnsrig-c"
OPTIONS: tuple[tuple[str, dns.edns.Option], ...] = (
    ("the client's cookie", dns.edns.GenericOption(dns.edns.OptionType.COOKIE, COOKIE)),
    ("an unknown option", dns.edns.GenericOption(UNKNOWN_OPTION, b"dnsrig")),
)
ITEM = Item(
    id="F-own-options",
    role="resolver",
    group="EDNS and size",
    requirement="The resolver does not pass cookies and unknown EDNS options of its clients on to servers.",
    references=("RFC 6891 section 6.1.1", "RFC 7873 section 5.1"),
    severity=Severity.WARNING,
    consequence=(
        "Servers everywhere can tell its clients from each other, and what one client asks for decides what the cache "
        "has for all."
    ),
    procedure=(
        "Fresh names are asked for with a cookie, and with an unknown option. No query for them at the tree's servers "
        "has the option with this content. Client subnets may be passed on (RFC 7871 section 7.1.1)."
    ),
    dig=("dig @{server} -p {port} any.fresh.control.unsigned. A +ednsopt=65001:646e73726967   # and look at the tree",),
    needs=("upstream", "seen"),
    faults=("passes-options",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with each option, and look at what comes upstream."""
    passed_on: list[str] = []
    shown: list[Evidence] = []
    tested = 0
    for what, option in OPTIONS:
        name = subject.fresh_name(UNSIGNED_FRESH)
        query = Query(name=name, rtype=RdataType.A, rd=True, options=(option,))
        exchange = subject.asker.ask(query)
        if own := _own_cookie(exchange):
            exchange = subject.asker.ask(replace(query, options=(own,)))
        seen = [*subject.seen_of(name)]
        tested += bool(seen)
        if any(_has(one.options, option) for one in seen):
            passed_on.append(what)
            shown.append(Evidence(f"queries with {what} at the tree's servers", list_of(seen)))
    if passed_on:
        return failed(f"What the client sent goes to the tree's servers: {', '.join(passed_on)}.", *shown)
    if tested < len(OPTIONS):
        return inconclusive(f"{len(OPTIONS) - tested} of {len(OPTIONS)} names did not come to the tree.", exchange)
    return passed(f"None of {len(OPTIONS)} options came to the tree's servers.", exchange)


def _own_cookie(exchange: Exchange) -> dns.edns.Option | None:
    """Give the cookie that the resolver wants to be asked with (RFC 7873 section 5.2.3); None where it wants none."""
    if exchange.rcode != dns.rcode.BADCOOKIE or exchange.message is None:
        return None
    given = [one for one in exchange.message.options if one.otype == dns.edns.OptionType.COOKIE]
    return next((one for one in given if len(one.to_wire() or b"") > len(COOKIE)), None)


def _has(options: tuple[dns.edns.Option, ...], sent: dns.edns.Option) -> bool:
    """Say whether an option is there with what was sent; a cookie of the resolver's own is another one."""
    begin = sent.to_wire() or b""
    return any(one.otype == sent.otype and (one.to_wire() or b"").startswith(begin) for one in options)
