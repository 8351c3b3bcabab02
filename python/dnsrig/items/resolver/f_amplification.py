"""F-amplification: how many queries one query of a client leads to."""

import time

import dns.name

from dnsrig.items.resolver._failures import ask_once, list_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause, thread_pool
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.tree.zones_multiplying import CIRCLE, ENDLESS, MANY_SERVERS, SERVERS
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

MOST = 100
"""Twice what current resolvers send in the worst of these cases."""
COUNTED_S = 6.0
SHOWN_LINES = 20
PLACES = (
    (MANY_SERVERS, f"a delegation to {SERVERS} name servers without addresses"),
    (f"a.{CIRCLE}", "delegations in a circle"),
    (ENDLESS, "aliases without end"),
)
ITEM = Item(
    id="F-amplification",
    role="resolver",
    group="Cost of resolution",
    requirement=f"One query of a client leads to {MOST} queries upstream at most.",
    references=("RFC 1034 section 5.3.3", "RFC 9520 section 3.2", "CVE-2020-8616"),
    severity=Severity.CRITICAL,
    consequence=(
        "Anybody who may ask it, and has a zone, makes it attack the servers of others with a multiple of what he "
        "sends; a mistake in a delegation does the same."
    ),
    procedure=(
        "A name whose delegation names 150 name servers without addresses, one whose delegation leads in a circle, and "
        "one that is an alias of an alias without end, are each asked for once, by one datagram. Until there is a "
        f"response, and for {COUNTED_S:g} s at least, not more than {MOST} queries that "
        "they lead to come to the tree's servers."
    ),
    dig=(
        f"dig @{{server}} -p {{port}} www.any.{MANY_SERVERS} A +tries=1 +timeout=12   # and look at the tree's servers",
        f"dig @{{server}} -p {{port}} www.any.a.{CIRCLE} A +tries=1 +timeout=12",
        f"dig @{{server}} -p {{port}} 0-any.{ENDLESS} A +tries=1 +timeout=12",
    ),
    needs=("upstream", "seen"),
    faults=("asks-for-every-server", "follows-circles", "follows-aliases-endlessly"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for each once, at the same time, and count."""
    with thread_pool(len(PLACES), "amplification") as pool:
        found = list(pool.map(lambda place: _ask(subject, place[0]), PLACES))
    counted = [(what, exchange, seen) for (_, what), (exchange, seen) in zip(PLACES, found, strict=True)]
    shown = Evidence("queries upstream", "\n".join(f"{what}: {len(seen)}" for what, _, seen in counted))
    beyond = [one for one in counted if len(one[2]) > MOST]
    if beyond:
        what, exchange, seen = max(beyond, key=lambda one: len(one[2]))
        first = Evidence(f"the first of them, for {what}", list_of(seen[:SHOWN_LINES]))
        return failed(f"One query led to {len(seen)} upstream, for {what}.", exchange, shown, first)
    untold = [what for what, _, seen in counted if not seen]
    if untold:
        return inconclusive(f"No query came to the tree for {untold[0]}.", counted[0][1], shown)
    most = max(len(seen) for _, _, seen in counted)
    return passed(f"One query led to {most} upstream at most.", shown)


def _ask(subject: ResolverSubject, zone: str) -> tuple[Exchange, list[SeenQuery]]:
    """Give what came of a name, and what the tree was asked because of it, told by the label that is drawn."""
    label = subject.fresh_name(dns.name.from_text(zone)).labels[0]
    origin = dns.name.from_text(zone)
    name = dns.name.Name([b"0-" + label if zone == ENDLESS else label, *origin.labels])
    if zone != ENDLESS:
        name = dns.name.Name([b"www", *name.labels])
    began = 0 if subject.seen is None else len(subject.seen)
    asked_at = time.monotonic()
    exchange = ask_once(subject, name)
    # Resolvers may go on after they have answered.
    pause(max(0.0, COUNTED_S - (time.monotonic() - asked_at)))
    seen = [] if subject.seen is None else subject.seen.since(began)
    return exchange, [one for one in seen if any(label in one_label.lower() for one_label in one.name.labels)]
