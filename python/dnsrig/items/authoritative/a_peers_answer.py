"""A-peers-answer: servers of the zone that are there."""

import socket
from dataclasses import replace

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import edns_soa_query, rcode_text, soa_query
from dnsrig.verification.asked_again import ask_again
from dnsrig.verification.asker import Asker
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed, inconclusive, passed

AT_ONCE = 8
WORST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)
ITEM = Item(
    id="A-peers-answer",
    role="authoritative",
    group="Secondaries",
    requirement="Every name server of the zone answers for it with authority, by UDP and by TCP.",
    references=("RFC 1034 section 4.1", "RFC 1912 section 2.8", "RFC 2182 section 3", "RFC 9210 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers that choose this server wait until they give it up, and some of their clients give up before: names "
        "resolve late, or now and then not at all. When the other servers fail, the zone is gone."
    ),
    procedure=(
        "Each other server that --ns names is asked for the zone's SOA record, by UDP without EDNS and by TCP, several "
        "times where it is silent. It gives the record, with AA. A server to which there is no route is not judged."
    ),
    dig=(
        "dig @{server} -p {port} {zone} SOA +norec +noedns   # at every server",
        "dig @{server} -p {port} {zone} SOA +norec +noedns +tcp   # at every server",
    ),
    needs=("peers",),
    faults=("dead-secondary", "lame-secondary", "deaf-secondary", "secondary-without-aa", "secondary-without-tcp"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask each; the worst of them decides."""
    with thread_pool(AT_ONCE, "peers") as pool:
        outcomes = list(pool.map(lambda peer: _judged(subject, peer), subject.peers))
    worst = min(outcomes, key=lambda outcome: WORST_FIRST.index(outcome.verdict))
    alike = sum(outcome.verdict is worst.verdict for outcome in outcomes)
    more = f" So it is with {alike} of {len(outcomes)} servers." if len(outcomes) > 1 else ""
    return replace(worst, reason=f"{worst.reason}{more}")


def _judged(subject: AuthoritativeSubject, peer: Asker) -> Outcome:
    query = soa_query(subject)
    if why := _no_route(peer):
        return inconclusive(f"{peer.server} cannot be asked from here: {why}.")
    by_udp, by_tcp = peer.udp(query), peer.tcp(query)
    if by_udp.response is None and by_tcp.response is None:
        if silence := subject.silence():
            return inconclusive(f"Neither {peer.server} nor the target answers: {silence}.", by_udp)
        reason = f"{peer.server} answers neither by UDP ({by_udp.silence}) nor by TCP ({by_tcp.silence})."
        return failed(reason, by_udp, by_tcp)
    if by_udp.response is None:
        again = ask_again(peer, query, edns_soa_query(subject))
        if again.answered:
            return inconclusive(f"{peer.server} answers {again.answered} of {again.tries} queries by UDP.", by_udp)
        return failed(f"{peer.server} answers by TCP, but not by UDP: {by_udp.silence}.", by_udp, by_tcp)
    for exchange in (by_udp, by_tcp):
        if exchange.response is None:
            return failed(f"{peer.server} answers by UDP, but not by TCP: {exchange.silence}.", exchange)
        if exchange.message is None:
            return failed(f"{peer.server}: {exchange.trouble}.", exchange)
        if exchange.is_truncated and not exchange.message.answer and exchange.transport == "udp":
            # By a limit of the rate, or as a habit: A-plain and others are about that.
            continue
        if rrset_of(exchange, "answer", subject.origin, RdataType.SOA) is None:
            code = rcode_text(exchange)
            return failed(f"{peer.server} does not serve the zone: {code} without the SOA record.", exchange)
        if not exchange.has_flag(dns.flags.AA):
            return failed(f"{peer.server} gives the SOA record without AA: it has no authority.", exchange)
    return passed(f"{peer.server} answers for the zone by UDP and TCP.", by_udp, by_tcp)


def _no_route(peer: Asker) -> str:
    """Say why this host cannot send to a server, without sending; "" if it can."""
    family = socket.AF_INET6 if ":" in peer.server.address else socket.AF_INET
    try:
        with peer.make_socket(family, socket.SOCK_DGRAM) as channel:
            channel.connect((peer.server.address, peer.server.port))
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""
