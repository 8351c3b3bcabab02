"""P-tcp-stalled: clients that stall."""

from dnsrig.items._tcp_stalled import PROCEDURE, REFERENCES, check_stalled
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="P-tcp-stalled",
    role="proxy",
    group="Protection",
    requirement="Clients that send a part of a query by TCP and stall do not keep others from being answered.",
    references=REFERENCES,
    severity=Severity.ERROR,
    consequence=(
        "A telephone that leaves the house in the middle of a query, or anybody who wants to, keeps all others without "
        "name service until the connection is given up."
    ),
    procedure=PROCEDURE.format(asked="an address is"),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +tcp   # while some connections are open and silent",),
    needs=("tcp",),
    faults=("proxy-serves-one-connection",),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for another name each time."""
    return check_stalled(subject.asker, plain_query(), lambda transport: subject.ask(plain_query(), transport).client)
