"""F-tcp-stalled: clients that stall."""

from dnsrig.items._tcp_stalled import PROCEDURE, REFERENCES, check_stalled
from dnsrig.items.resolver._probes import plain_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

ITEM = Item(
    id="F-tcp-stalled",
    role="resolver",
    group="Robustness",
    requirement="Clients that send a part of a query by TCP and stall do not keep others from being answered.",
    references=REFERENCES,
    severity=Severity.ERROR,
    consequence=(
        "Anybody who may ask it, or a client that leaves the network in the middle of a query, keeps all others from "
        "asking by TCP until the connection is given up: what is too large for UDP does not resolve."
    ),
    procedure=PROCEDURE.format(asked="a name is"),
    dig=(
        "dig @{server} -p {port} www.control.unsigned. A +noedns +tcp   # while some connections are open and silent",
    ),
    needs=("names",),
    faults=("serves-one-connection",),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name that is in the cache."""
    query = plain_query(subject)
    before = subject.asker.tcp(query)
    if before.message is None:
        return inconclusive("Queries by TCP are not answered at all (see F-tcp).", before)
    asker = subject.asker
    return check_stalled(asker, query, lambda transport: (asker.tcp if transport == "tcp" else asker.udp)(query))
