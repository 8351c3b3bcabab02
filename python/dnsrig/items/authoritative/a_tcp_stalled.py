"""A-tcp-stalled: clients that stall."""

from dnsrig.items._tcp_stalled import PROCEDURE, REFERENCES, check_stalled
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

ITEM = Item(
    id="A-tcp-stalled",
    role="authoritative",
    group="Robustness",
    requirement="Clients that send a part of a query by TCP and stall do not keep others from being answered.",
    references=REFERENCES,
    severity=Severity.ERROR,
    consequence=(
        "Anybody keeps all resolvers from asking by TCP until the connection is given up: responses that are too large "
        "for UDP, and the zone's transfers, do not reach them."
    ),
    procedure=PROCEDURE.format(asked="the SOA record is"),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +tcp   # while some connections are open and silent",),
    faults=("serves-one-connection",),
    runs_alone=True,
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the SOA record."""
    query, asker = soa_query(subject), subject.asker
    before = asker.tcp(query)
    if before.message is None:
        return inconclusive("Queries by TCP are not answered at all (see A-tcp).", before)
    return check_stalled(asker, query, lambda transport: (asker.tcp if transport == "tcp" else asker.udp)(query))
