"""F-tcp-kept: TCP connections that stay open."""

from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

IDLE_S = 0.1
"""Unbound closes idle connections after 0.2 s where few of its ten are free (TCP_QUERY_TIMEOUT_MINIMUM)."""
GAP_S = 0.05
TRIES = 3
LATER_S = 2.0
ITEM = Item(
    id="F-tcp-kept",
    role="resolver",
    group="EDNS and size",
    requirement="A TCP connection serves another query after the first, and queries that come in several segments.",
    references=("RFC 7766 section 6.2.1", "RFC 7766 section 8"),
    severity=Severity.WARNING,
    consequence=(
        "Stubs and forwarders pay for a connection with each query; those whose queries are cut on their way get no "
        "answer by TCP."
    ),
    procedure=(
        f"A name is asked for by TCP, and {IDLE_S:g} s later once more over the same connection; then with the query "
        f"in three segments, {GAP_S:g} s apart. What fails is tried {TRIES} times."
    ),
    dig=("dig @{server} -p {port} +tcp +keepopen +noedns www.control.unsigned. A www.control.unsigned. A",),
    needs=("names",),
    faults=("closes-tcp-at-once", "needs-whole-queries"),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask twice over one connection, then in parts."""
    query = plain_query(subject)
    whole = subject.asker.tcp(query)
    if whole.response is None:
        return inconclusive("Queries by TCP are not answered at all (see F-tcp).", whole)
    for again in range(TRIES):
        # Resolvers close idle connections sooner while many others are open.
        pause(LATER_S if again else 0.0)
        first, second = subject.asker.tcp_in_turn([query] * 2, IDLE_S)
        if second.response is not None:
            break
    if first.response is None:
        return inconclusive("Queries by TCP are not answered any more.", whole, first)
    if second.response is None:
        said = f"After {IDLE_S:g} s the connection does not serve a second query: {second.trouble}."
        return failed(said, first, second)
    for _ in range(TRIES):
        parts = subject.asker.tcp_in_parts(query, GAP_S)
        if parts.response is not None:
            return passed("A second query over a connection, and one in three segments, are answered.", second, parts)
    after = subject.asker.tcp(query)
    if after.response is None:
        return inconclusive("Whole queries by TCP are not answered any more either.", parts, after)
    return failed(f"A query in three segments gets {parts.trouble}; a whole one is answered.", parts, after)
