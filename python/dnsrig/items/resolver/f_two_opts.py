"""F-two-opts: queries with two OPT records."""

import dns.rcode

from dnsrig.items._two_opts import query_with_two_opts
from dnsrig.items.resolver._probes import hasty, plain_query, rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="F-two-opts",
    role="resolver",
    group="EDNS and size",
    requirement="A query with two OPT records gets FORMERR.",
    references=("RFC 6891 section 6.1.1",),
    severity=Severity.WARNING,
    consequence=(
        "What the client may take, and which options hold, is read in one record here and in the other by a firewall "
        "or a proxy on the way, which can be deceived by that."
    ),
    procedure="A name is asked for with two OPT records that are alike, without options. No response is no failure.",
    dig=("# dig sends no such messages",),
    needs=("names",),
    faults=("takes-first-opt",),
    is_rough=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask so, where EDNS is known."""
    if subject.control.message is None or subject.control.message.edns < 0:
        return not_applicable("The resolver has no EDNS (see F-do).", subject.control)
    usual = plain_query(subject)
    exchange = hasty(subject).udp(query_with_two_opts(usual.name, usual.rtype, rd=True))
    if exchange.message is None:
        silence = subject.silence()
        if silence:
            return inconclusive(f"The resolver does not answer queries either: {silence}.", exchange)
        return passed("A query with two OPT records is not answered.", exchange)
    if exchange.rcode != dns.rcode.FORMERR:
        return failed(f"The response code to two OPT records is {rcode_text(exchange)}, not FORMERR.", exchange)
    return passed("FORMERR.", exchange)
