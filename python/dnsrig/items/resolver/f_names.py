"""F-names: names of any form."""

from dns.rdatatype import RdataType

from dnsrig.items._odd_names import odd_names
from dnsrig.items.resolver._probes import wrong_answer
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import UNSIGNED_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="F-names",
    role="resolver",
    group="Robustness",
    requirement="Names of any form are resolved: of 255 octets, of many labels, with underscores and with any octets.",
    references=("RFC 2181 section 11", "RFC 1035 section 3.1", "RFC 8552 section 1"),
    severity=Severity.ERROR,
    consequence="Mail policies, certificates and services, whose names begin with underscores, are not found.",
    procedure=(
        "Names with underscores, with a label of 63 octets, of 255 octets, of many labels, and with octets that no "
        "host name has are asked for, below a wildcard of an unsigned zone: the address comes."
    ),
    dig=(
        "dig @{server} -p {port} _25._tcp.any.fresh.control.unsigned. A +noedns",
        "dig @{server} -p {port} '\\000\\032\\233.any.fresh.control.unsigned.' A +noedns",
    ),
    needs=("upstream",),
    faults=("drops-long-names", "drops-odd-names", "servfail-to-underscores", "drops-many-labels"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for each."""
    queries = [Question(name, RdataType.A).plain for name in odd_names(UNSIGNED_FRESH)]
    with thread_pool(len(queries), "names") as pool:
        exchanges = list(pool.map(subject.asker.ask, queries))
    for exchange in exchanges:
        # A message upstream may have been lost.
        again = exchange if _has_answer(exchange) else subject.asker.ask(exchange.query)
        if wrong := wrong_answer(subject, again, f"The query for {exchange.query.name}"):
            return wrong
    return passed(f"{len(exchanges)} names of unusual form are resolved.", *exchanges[:2])


def _has_answer(exchange: Exchange) -> bool:
    return exchange.message is not None and bool(exchange.message.answer)
