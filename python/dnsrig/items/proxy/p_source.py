"""P-source: the source of responses."""

from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="P-source",
    role="proxy",
    group="Integrity",
    requirement="A response by UDP comes from the address and port that the query was sent to.",
    references=("RFC 2181 section 4.1", "RFC 2181 section 4.2", "RFC 5452 section 9.1"),
    severity=Severity.CRITICAL,
    consequence="Clients drop what comes from elsewhere: for them the proxy does not answer.",
    procedure="An address is asked for from a socket that takes datagrams from anywhere; the sender is compared.",
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns   # dig says: reply from unexpected source",),
    needs=("upstream",),
    faults=("answers-from-other-port",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and take a response from anywhere."""
    query = plain_query()
    exchange, sender = subject.asker.udp_from_anywhere(query)
    if sender is None:
        return subject.unanswered(Through(exchange, subject.seen(query.name)))
    # What comes from a link-local address is shown without its zone index.
    asked = Endpoint(exchange.server.address.partition("%")[0], exchange.server.port)
    if Endpoint(sender.address.partition("%")[0], sender.port) != asked:
        return failed(f"The response comes from {sender}, though {exchange.server} was asked.", exchange)
    return passed(f"The response comes from {sender}.", exchange)
