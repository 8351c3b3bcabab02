"""F-udp-512: responses by UDP to clients without EDNS."""

from dataclasses import replace

from dnsrig.items.resolver._sizes import none_so_large
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

OLD_LIMIT, PAYLOAD = 512, 1232
LARGE, LARGER = 512, 4000
ITEM = Item(
    id="F-udp-512",
    role="resolver",
    group="EDNS and size",
    requirement="No response by UDP is longer than the client said that it takes, 512 octets without EDNS.",
    references=("RFC 1035 section 4.2.1", "RFC 6891 section 6.2.3", "RFC 2181 section 9"),
    severity=Severity.ERROR,
    consequence="Clients and firewalls drop the response, or read the part that fits; and it comes in fragments.",
    procedure=(
        "A large RRset is asked for by UDP without EDNS, and a larger one with a payload size of 1232: the responses "
        "are not longer than that, and have TC."
    ),
    dig=(
        "dig @{server} -p {port} large700.secure.nsec. TXT +noedns +ignore",
        "dig @{server} -p {port} large4000.secure.nsec. TXT +dnssec +bufsize=1232 +ignore",
    ),
    needs=("names",),
    faults=("exceeds-512", "ignores-payload-size", "clears-tc", "cuts-without-tc"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for what is longer, as TCP shows."""
    plain, with_edns = subject.names.large.get(LARGE), subject.names.large.get(LARGER)
    if plain is None or with_edns is None:
        return none_so_large(LARGE if plain is None else LARGER)
    asked = [(plain.plain, OLD_LIMIT)]
    if subject.control.message is not None:
        # Where EDNS gets no response, that is the matter of F-do.
        asked.append((replace(with_edns.with_do, payload=PAYLOAD), PAYLOAD))
    exchanges = []
    for query, limit in asked:
        exchange = subject.asker.udp(query)
        if exchange.response is None:
            return subject.unanswered(exchange)
        if exchange.octets > limit:
            return failed(f"A response of {exchange.octets} octets comes to a client that takes {limit}.", exchange)
        if not exchange.is_truncated:
            whole = subject.asker.tcp(query)
            if whole.octets > limit and whole.rcode == exchange.rcode:
                return failed(f"The response is cut to {exchange.octets} octets without TC.", exchange, whole)
            return inconclusive(f"By TCP no response of more than {limit} octets comes.", exchange, whole)
        exchanges.append(exchange)
    return passed("Responses that do not fit are truncated, with TC.", *exchanges)
