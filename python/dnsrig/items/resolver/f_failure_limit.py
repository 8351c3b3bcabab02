"""F-failure-limit: how long failures are remembered."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause, thread_pool
from dnsrig.verification.subjects.resolver import BOGUS_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

LONGEST_S = 300.0
"""How long a failure may be remembered (RFC 9520 section 3.2)."""
REFUSED = dns.name.from_text("fails.unsigned.")
AGAIN = 3
AGAIN_AFTER_S = 1.0
"""A query upstream may be lost, or on its way yet."""

ITEM = Item(
    id="F-failure-limit",
    role="resolver",
    group="Servers that are wrong",
    requirement="The resolver remembers for five minutes at most that a name could not be resolved.",
    references=("RFC 9520 section 3.2",),
    severity=Severity.ERROR,
    consequence="A name whose servers failed for a moment stays away for all clients long after they work again.",
    procedure=(
        "A name whose only server answers with REFUSED, and one that is bogus (where the resolver validates), are "
        "asked for twice, more than five minutes apart; the second time too queries for them come to the tree."
    ),
    dig=(
        "dig @{server} -p {port} x.fails.unsigned. A; sleep 301; dig @{server} -p {port} x.fails.unsigned. A",
        f"dig @{{server}} -p {{port}} x.{BOGUS_FRESH} A; sleep 301; dig @{{server}} -p {{port}} x.{BOGUS_FRESH} A",
    ),
    needs=("upstream", "seen"),
    faults=("keeps-failures",),
    is_slow=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for both twice, with a long time between."""
    queries = [
        Query(name=subject.fresh_name(place), rtype=RdataType.A, rd=True, payload=None)
        for place in (REFUSED, BOGUS_FRESH)
    ]
    with thread_pool(len(queries), "failure") as pool:
        first = list(pool.map(subject.asker.ask, queries))
        failures = [exchange.query for exchange in first if _is_failure(subject, exchange)]
        if not failures:
            return inconclusive("There is no failure to remember.", *first)
        pause(LONGEST_S + 1)
        found = list(pool.map(lambda query: _ask_again(subject, query), failures))
    kept = [exchange for exchange, came in found if not came]
    lines = [f"{exchange.query.name} {came} queries upstream the second time" for exchange, came in found]
    shown = Evidence("names", "\n".join(lines))
    if any(exchange.message is None for exchange in kept):
        return inconclusive("What is asked for the second time is not answered.", *kept, shown)
    if kept:
        names = " and ".join(str(exchange.query.name) for exchange in kept)
        return failed(f"{LONGEST_S:g} s later servers are not asked for {names}.", *kept, shown)
    return passed(f"{LONGEST_S:g} s later servers are asked again.", found[0][0], shown)


def _is_failure(subject: ResolverSubject, exchange: Exchange) -> bool:
    """Say whether servers were asked in vain; what is bogus is none to a resolver that does not validate."""
    return exchange.rcode == dns.rcode.SERVFAIL and bool(subject.seen_of(exchange.query.name))


def _ask_again(subject: ResolverSubject, query: Query) -> tuple[Exchange, int]:
    """Ask until queries for the name come to the tree; give the last exchange and how many came."""
    before = len(subject.seen_of(query.name))
    for number in range(AGAIN):
        if number:
            pause(AGAIN_AFTER_S)
        exchange = subject.asker.ask(query)
        if came := len(subject.seen_of(query.name)) - before:
            break
    return exchange, came
