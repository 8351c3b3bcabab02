"""F-85: UDP messages beyond 512 octets by EDNS."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._probes import rcode_text
from dnsrig.items.resolver._sizes import large_query, none_so_large
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

OLD_LIMIT = 512
LEAST_LIMIT = 1220
"""Octets by UDP that a resolver of signed zones gives at least (RFC 4035 section 3); beyond it may have a limit."""
ITEM = Item(
    id="F-85",
    role="resolver",
    group="EDNS and size",
    requirement=(
        "The resolver gives responses beyond 512 octets by UDP to clients that can take them, and to others TC, and the"
        " whole response by TCP."
    ),
    references=("RFC 6891 section 6.2.5", "RFC 7766 section 5", "RFC 4035 section 4.1", "JPRS-2010 F-85"),
    severity=Severity.ERROR,
    consequence="Clients get signed responses late, cut, or not at all.",
    procedure=(
        "A signed RRset whose response has about 800 octets is asked for by UDP with DO and a payload size of 4096, "
        "then with 512: it comes whole, then with TC, and whole by TCP. A name of an unsigned zone is asked for with "
        "DO: the response has OPT and no signatures. In a tree of yours the RRset is the smallest beyond 512 octets of "
        "the trust anchor's keys and the names of --secure: beyond 1220 octets a resolver may have a limit of its own, "
        "so that TC tells nothing."
    ),
    dig=(
        "dig @{server} -p {port} large700.secure.nsec. TXT +dnssec +bufsize=4096 +ignore",
        "dig @{server} -p {port} large700.secure.nsec. TXT +dnssec +bufsize=512 +ignore",
        "dig @{server} -p {port} www.control.unsigned. A +dnssec",
    ),
    needs=("names",),
    faults=(
        "strips-opt",
        "ignores-edns",
        "drops-edns",
        "formerr-to-edns",
        "ignores-payload-size",
        "cuts-without-tc",
        "clears-tc",
    ),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with a large payload size and with a small one, and for unsigned data."""
    question = subject.names.large.get(OLD_LIMIT)
    if question is None:
        return none_so_large(OLD_LIMIT)
    by_udp = subject.asker.udp(large_query(question))
    if by_udp.message is None:
        return subject.unanswered(by_udp)
    if by_udp.octets <= OLD_LIMIT:
        return _too_small(subject, by_udp)
    if by_udp.message.edns < 0:
        return failed("The response has no OPT record, though the query had one.", by_udp)
    small = subject.asker.udp(large_query(question, OLD_LIMIT))
    if small.message is None:
        return subject.unanswered(small)
    if small.octets > OLD_LIMIT:
        return failed(f"A response of {small.octets} octets comes to a client that takes 512.", small)
    if not small.is_truncated:
        return failed(f"The response is cut to {small.octets} octets without TC.", small, by_udp)
    if not subject.has_tcp:
        return inconclusive("By UDP all is right; there is no TCP, by which the rest would come (see F-tcp).", small)
    by_tcp = subject.asker.tcp(large_query(question, OLD_LIMIT))
    if by_tcp.message is None:
        return failed("The response is truncated by UDP, and there is none by TCP.", small, by_tcp)
    if len(by_tcp.message.answer) < len(by_udp.message.answer):
        return failed("The response by TCP lacks what came by UDP.", by_udp, by_tcp)
    return _unsigned(subject) or passed(
        f"A response of {by_udp.octets} octets comes by UDP, and by TCP to a client that takes 512.", by_udp, small
    )


def _too_small(subject: ResolverSubject, by_udp: Exchange) -> Outcome:
    """Say what came in place of a response that the client had room for."""
    if by_udp.rcode == dns.rcode.SERVFAIL:
        return inconclusive(f"The name is answered with {rcode_text(by_udp)} (see F-secure-large).", by_udp)
    if not by_udp.is_truncated:
        code = "" if by_udp.rcode == dns.rcode.NOERROR else f" and response code {rcode_text(by_udp)}"
        said = f"By UDP with a payload size of 4096 a response of {by_udp.octets} octets{code} comes."
        return failed(said, by_udp)
    if not subject.has_tcp:
        return inconclusive(
            "By UDP with a payload size of 4096 TC comes; by TCP, which would show how large the response is, there is "
            "none (see F-tcp).",
            by_udp,
        )
    by_tcp = subject.asker.tcp(by_udp.query)
    if by_tcp.message is None:
        return failed("By UDP with a payload size of 4096 TC comes, and by TCP no response.", by_udp, by_tcp)
    if by_tcp.octets > LEAST_LIMIT:
        return not_applicable(
            f"The response has {by_tcp.octets} octets, for which the resolver may have a limit of its own, and comes "
            f"by TCP; name one of {OLD_LIMIT + 1} to {LEAST_LIMIT} octets by --secure NAME/TYPE.",
            by_udp,
            by_tcp,
        )
    reason = (
        f"By UDP with a payload size of 4096 TC comes, though the response has {by_tcp.octets} octets by TCP: the "
        f"resolver gives no more than {OLD_LIMIT} by UDP, or less."
    )
    return failed(reason, by_udp, by_tcp)


def _unsigned(subject: ResolverSubject) -> Outcome | None:
    if subject.names.unsigned is None:
        return None
    exchange = subject.asker.ask(subject.names.unsigned.with_do)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.message.edns < 0:
        return failed("The response for an unsigned name has no OPT record.", exchange)
    if any(rrset.rdtype == RdataType.RRSIG for rrset in exchange.message.answer):
        return failed("The response for an unsigned name has signatures.", exchange)
    return None
