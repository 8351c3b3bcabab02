"""F-pipelining: several queries at once by TCP."""

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

LEAST = 2
ROUNDS = 2
"""Silence is told from a busy machine by so many connections, and by the same queries alone after each."""
TRIES = 2 * ROUNDS
"""Connections at most, where the queries alone are not all answered either."""
ITEM = Item(
    id="F-pipelining",
    role="resolver",
    group="EDNS and size",
    requirement="Queries that are sent over one TCP connection without waiting are all answered.",
    references=("RFC 7766 section 6.2.1.1", "RFC 7766 section 7"),
    severity=Severity.WARNING,
    consequence="Stubs and forwarders that keep connections lose answers, or open a connection for each query.",
    procedure=(
        "Queries for several secure, unsigned and missing names are sent at once over one connection; each gets a "
        "response with its ID and question, in any order. What gets none is asked alone, and all at once again."
    ),
    dig=("dig @{server} -p {port} +noedns +tcp +keepopen . SOA . NS   # dig waits between them",),
    needs=("names",),
    faults=("closes-tcp-at-once", "loses-pipelined"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Send all, and match the responses."""
    names = subject.names
    questions = [one for one in (names.secure, names.unsigned, *names.denied) if one is not None]
    # One after the other at first, so that none takes time when they come together.
    alone = [subject.asker.tcp(question.plain) for question in questions]
    queries = [exchange.query for exchange in alone if exchange.message is not None]
    if len(queries) < LEAST:
        return inconclusive("Queries alone get no response by TCP either (see F-tcp).", *alone)
    rounds = 0
    for _ in range(TRIES):
        exchanges = subject.asker.tcp_pipelined(queries)
        silent = [exchange for exchange in exchanges if exchange.message is None]
        if not silent:
            break
        # Who is late with one of them alone too may be busy.
        alone = [subject.asker.tcp(exchange.query) for exchange in silent]
        rounds += all(exchange.message is not None for exchange in alone)
        if rounds == ROUNDS:
            said = f"{len(silent)} of {len(exchanges)} queries over one connection get no response, {ROUNDS} times"
            return failed(f"{said}; alone they do.", *exchanges)
    else:
        return inconclusive("Queries that were answered before get no response alone either.", *silent, *alone)
    for exchange in exchanges:
        asked = [] if exchange.message is None else [(one.name, one.rdtype) for one in exchange.message.question]
        # A response without question is the matter of F-question.
        if asked and asked != [(exchange.query.name, exchange.query.rtype)]:
            others = {(one.query.name, one.query.rtype) for one in exchanges}
            if asked[0] in others:
                return failed(f"The response with the ID of {exchange.title} is to another question.", *exchanges)
    return passed(f"All {len(exchanges)} were answered.", *exchanges)
