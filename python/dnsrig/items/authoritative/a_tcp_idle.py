"""A-tcp-idle: TCP connections that stay open."""

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

IDLE_S = 0.5
"""RFC 7766 has some seconds in mind; a busy server may hang up sooner, but none at once."""
ITEM = Item(
    id="A-tcp-idle",
    role="authoritative",
    group="Transport",
    requirement="A TCP connection stays open for a further query when the first is answered.",
    references=("RFC 7766 section 6.2.1", "RFC 7766 section 6.2.3"),
    severity=Severity.WARNING,
    consequence="Resolvers pay for a connection with each query, three times the packets and another round trip.",
    procedure="The SOA record is asked for by TCP, and half a second later once more over the same connection.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +tcp +keepopen {zone} SOA +norec +noedns +tcp",),
    needs=("zone",),
    faults=("no-tcp", "drops-tcp", "wrong-id-by-tcp", "closes-tcp-after-one"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask twice over one connection."""
    first, second = subject.asker.tcp_in_turn([soa_query(subject)] * 2, IDLE_S)
    if first.message is None:
        return subject.unanswered(first)
    if second.message is None:
        return failed(
            f"After {IDLE_S:g} s the connection does not serve a second query: {second.trouble}.", first, second
        )
    return passed(f"A second query over the connection, {IDLE_S:g} s later, was answered.", first, second)
