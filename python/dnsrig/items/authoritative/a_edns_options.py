"""A-edns-options: several EDNS options at once."""

import dns.edns
import dns.rcode

from dnsrig.items.authoritative._probes import edns_soa_query, without_opt, wrong_soa
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

COOKIE = bytes.fromhex("646e737269670a0b")
STRANGE = bytes(range(16))
"""A cookie that no server has given."""
EXPIRE = dns.edns.OptionType.make(9)
"""Number of the EDNS option EXPIRE (RFC 7314 section 3)."""
NOBODY = ("0.0.0.0", 0)
"""Address and source prefix length of a client subnet that says nothing of anyone."""
SOMEBODY = ("192.0.2.0", 24)
"""The same of one as resolvers send it, of addresses for documentation (RFC 5737)."""
ITEM = Item(
    id="A-edns-options",
    role="authoritative",
    group="RFC 8906",
    requirement=(
        "A query with several EDNS options that are defined is answered, whether the server uses them or not, as is "
        "one with the cookie of another server; a client subnet comes back as it was sent."
    ),
    references=(
        "RFC 8906 section 8.2.10",
        "RFC 6891 section 6.1.2",
        "RFC 7871 section 7.2.1",
        "RFC 7873 section 5.2.4",
    ),
    severity=Severity.ERROR,
    consequence=(
        "Clients send several options at once, such as dig does; they get no answer, or wait for a time-out. Resolvers "
        "drop responses with another client subnet."
    ),
    procedure=(
        "The SOA record is asked for with the options NSID, a client cookie, EXPIRE and client subnet 0.0.0.0/0. Where "
        "the response has a client subnet, its family, source prefix length and address are the query's; so it is with "
        "192.0.2.0/24. With "
        "DO and a client cookie, as resolvers ask, it is asked for again where queries with DO are answered, and with "
        "a server cookie that the server has not given, as they send it where the address has become another server's."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nsid +cookie +expire +subnet=0.0.0.0/0",),
    needs=("zone", "edns"),
    faults=(
        "formerr-to-edns-options",
        "drops-cookie-with-do",
        "ecs-of-another",
        "drops-strange-cookies",
        "drops-client-subnets",
    ),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with what dig can send, and a client subnet that says nothing of anyone."""
    options = (
        dns.edns.GenericOption(dns.edns.OptionType.NSID, b""),
        dns.edns.CookieOption(COOKIE, b""),
        dns.edns.GenericOption(EXPIRE, b""),
        dns.edns.ECSOption(*NOBODY),
    )
    exchange = subject.asker.udp(edns_soa_query(subject, options=options))
    if exchange.rcode == dns.rcode.BADCOOKIE:
        return passed("BADCOOKIE: the server wants its own cookie as well.", exchange)
    wrong = wrong_soa(subject, exchange) or without_opt(exchange) or _other_subnet(exchange, NOBODY)
    wrong = wrong or _wrong_with_subnet(subject)
    if wrong is None and subject.asker.udp(edns_soa_query(subject, do=True)).rcode == dns.rcode.NOERROR:
        wrong = _wrong_with_cookie(subject, b"") or _wrong_with_cookie(subject, STRANGE)
    return wrong or passed("NOERROR with the SOA record and OPT.", exchange)


def _wrong_with_cookie(subject: AuthoritativeSubject, of_server: bytes) -> Outcome | None:
    """Judge the response to a query with DO, a client cookie and a server's, if any; None if it is right."""
    exchange = subject.asker.udp(edns_soa_query(subject, do=True, options=(dns.edns.CookieOption(COOKIE, of_server),)))
    if exchange.response is None:
        return subject.unanswered(exchange)
    if exchange.rcode == dns.rcode.BADCOOKIE:
        return None
    return wrong_soa(subject, exchange) or without_opt(exchange)


def _wrong_with_subnet(subject: AuthoritativeSubject) -> Outcome | None:
    """Judge the response to a query with a client subnet alone; None if it is right."""
    exchange = subject.asker.udp(edns_soa_query(subject, options=(dns.edns.ECSOption(*SOMEBODY),)))
    return wrong_soa(subject, exchange) or without_opt(exchange) or _other_subnet(exchange, SOMEBODY)


def _other_subnet(exchange: Exchange, sent_one: tuple[str, int]) -> Outcome | None:
    """Judge the client subnet in a response; None if there is none, or the query's."""
    for option in [] if exchange.message is None else exchange.message.options:
        if isinstance(option, dns.edns.ECSOption) and (option.address, option.srclen) != sent_one:
            there, sent = f"{option.address}/{option.srclen}", "/".join(str(part) for part in sent_one)
            return failed(f"The response has the client subnet {there}, though the query has {sent}.", exchange)
    return None
