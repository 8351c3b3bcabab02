"""P-tcp-stalled: clients that stall."""

from dnsrig.verification.exchange import Transport
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, Shown, failed, inconclusive, passed

STALLED = 3
TRIES: dict[Transport, int] = {"udp": 4, "tcp": 1}
"""How often a query without response is asked while others stall: one by UDP may be lost on the way."""

ITEM = Item(
    id="P-tcp-stalled",
    role="proxy",
    group="Protection",
    requirement="Clients that send a part of a query by TCP and stall do not keep others from being answered.",
    references=("RFC 7766 section 6.2.2", "RFC 9210 section 4.2", "RFC 9210 section 4.5"),
    severity=Severity.ERROR,
    consequence=(
        "A telephone that leaves the house in the middle of a query, or anybody who wants to, keeps all others without "
        "name service until the connection is given up."
    ),
    procedure=(
        f"{STALLED} connections are held open with a part of a query sent by each; meanwhile an address is asked for "
        "by UDP and by TCP."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +tcp   # while some connections are open and silent",),
    needs=("tcp",),
    faults=("proxy-serves-one-connection",),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Stall, ask, and ask again without."""
    shown: tuple[Shown, ...] = ()
    for transport, tries in TRIES.items():
        try:
            with subject.asker.tcp_stalled(plain_query(), STALLED):
                for _ in range(tries):
                    meanwhile = subject.ask(plain_query(), transport)
                    if meanwhile.client.message is not None:
                        break
        except OSError as error:
            return inconclusive(f"{STALLED} connections cannot be held: {error.strerror}.")
        if meanwhile.client.message is None:
            return _held_up(subject, meanwhile, transport)
        shown = (*shown, meanwhile.client)
    return passed(f"Others are answered by UDP and TCP while {STALLED} clients stall.", *shown)


def _held_up(subject: ProxySubject, meanwhile: Through, transport: Transport) -> Outcome:
    after = subject.ask(plain_query(), transport)
    if after.client.message is None:
        return inconclusive(f"Queries by {transport.upper()} are not answered afterwards either.", after.client)
    return failed(
        f"While {STALLED} clients stall, a query by {transport.upper()} gets {meanwhile.client.trouble}; afterwards "
        "one is answered.",
        meanwhile.client,
        after.client,
    )
