"""F-cookie: DNS cookies of clients."""

import dns.edns

from dnsrig.items.resolver._probes import plain_query, wrong_answer
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

COOKIE = dns.edns.OptionType.COOKIE
CLIENT = bytes.fromhex("646e737269670a0c")
SHORTEST, LONGEST = 16, 40
"""Octets of both cookies (RFC 7873 section 4)."""
ITEM = Item(
    id="F-cookie",
    role="resolver",
    group="EDNS and size",
    requirement=(
        "A client's cookie changes no answer; a resolver that uses cookies gives it back with its own, and takes that "
        "again."
    ),
    references=("RFC 7873 section 5.2", "RFC 9018 section 4"),
    severity=Severity.WARNING,
    consequence="Clients with cookies, such as dig and forwarders, drop the responses, or are refused again and again.",
    procedure=(
        "A name is asked for with a client cookie, and with both cookies as they came: the records come, but for "
        "BADCOOKIE with a cookie to the first. Where the response has a cookie it begins with the client's and has 16 "
        "to 40 octets."
    ),
    dig=("dig @{server} -p {port} www.control.unsigned. A +cookie=646e737269670a0c",),
    needs=("names",),
    faults=("wrong-client-cookie", "badcookie", "echoes-client-options", "drops-edns", "formerr-to-edns"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask as a client does that learns the resolver's cookie."""
    first = _asked(subject, CLIENT)
    # One that asks for its own cookie tells it so (RFC 7873 section 5.2.3).
    wants_its_own = first.rcode == dns.rcode.BADCOOKIE and bool(_cookies(first))
    if not wants_its_own and (wrong := wrong_answer(subject, first, "A query with a client cookie")):
        return wrong
    cookies = _cookies(first)
    if len(cookies) > 1:
        return failed(f"The response has {len(cookies)} COOKIE options.", first)
    cookie = b"".join(cookies)
    if not cookie:
        return passed("A client's cookie changes nothing; the resolver has none of its own.", first)
    if not cookie.startswith(CLIENT):
        return failed("The response has another client cookie than the query.", first)
    if not SHORTEST <= len(cookie) <= LONGEST:
        return failed(f"The cookies have {len(cookie)} octets, not {SHORTEST} to {LONGEST}.", first)
    second = _asked(subject, cookie)
    if wrong := wrong_answer(subject, second, "A query with the resolver's own cookie"):
        return wrong
    return passed(f"Its cookie has {len(cookie) - len(CLIENT)} octets, and it takes it again.", first, second)


def _asked(subject: ResolverSubject, cookie: bytes) -> Exchange:
    option = dns.edns.GenericOption(COOKIE, cookie)
    return subject.asker.ask(plain_query(subject, payload=USUAL_PAYLOAD, options=(option,)))


def _cookies(exchange: Exchange) -> list[bytes]:
    """Give the contents of the response's COOKIE options."""
    options = () if exchange.message is None else exchange.message.options
    return [option.to_wire() or b"" for option in options if option.otype == COOKIE]
