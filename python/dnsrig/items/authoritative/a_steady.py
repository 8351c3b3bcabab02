"""A-steady: the same question, the same answer."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, soa_query
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TIMES = 24
LATER_S = 5.0
SERIALS = 1 << 32
ITEM = Item(
    id="A-steady",
    role="authoritative",
    group="Answers",
    requirement="The server gives its SOA record each time that it is asked for, and the serial never goes back.",
    references=("RFC 1982 section 3.2", "RFC 1034 section 4.3.5", "RFC 1996 section 3.11"),
    severity=Severity.ERROR,
    consequence=(
        "Behind the address are servers that do not serve the zone, or an old version of it: names resolve now and then"
        " only, and secondaries do not know which version is newer."
    ),
    procedure=(
        f"The SOA record is asked for {TIMES} times, each time from another port; where the same response is wrong "
        "twice, the server fails; serials that go back have to do so twice again some seconds later. Lost and "
        "truncated responses do not count."
    ),
    dig=("for i in $(seq 24); do dig @{server} -p {port} {zone} SOA +norec +noedns +short; done",),
    needs=("zone",),
    faults=("servfail-now-and-then", "serial-goes-back"),
    runs_alone=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask many times and look for other response codes and for serials that are lower than one before.

    Servers behind one address may have a new version some seconds apart, so what goes back is asked for again later.
    """
    outcome, goes_back = _ask(subject)
    if goes_back:
        pause(LATER_S)
        again, goes_back = _ask(subject)
        return again if goes_back else inconclusive(f"{outcome.reason} {LATER_S:g} s later it does not.")
    return outcome


def _ask(subject: AuthoritativeSubject) -> tuple[Outcome, bool]:
    """Give the verdict of one round, and whether it is that the serial goes back."""
    refused: list[Exchange] = []
    back: list[tuple[Exchange, Exchange]] = []
    latest: tuple[int, Exchange] | None = None
    answered = 0
    for _ in range(TIMES):
        exchange = subject.asker.udp(soa_query(subject))
        if exchange.message is None or exchange.is_truncated:
            continue
        if exchange.rcode != dns.rcode.NOERROR:
            refused.append(exchange)
            continue
        rrset = rrset_of(exchange, "answer", subject.origin, RdataType.SOA)
        if rrset is None:
            continue
        answered += 1
        if latest is not None and _is_before(rrset[0].serial, latest[0]):
            back.append((latest[1], exchange))
        else:
            latest = rrset[0].serial, exchange
    if answered and len(refused) > 1:
        text = rcode_text(refused[0])
        said = f"Of {TIMES} responses for the SOA record {len(refused)} have an error, such as {text}."
        return failed(said, *refused[:2]), False
    if len(back) > 1:
        return failed(f"The serial goes back in {len(back)} of {answered} responses.", *back[0]), True
    if refused or back or not answered:
        said = "Of the responses one differs, or there is none to compare."
        return inconclusive(said, *refused, *sum(back, ())), False
    return passed(f"{answered} responses have the SOA record, with a serial that does not go back.", exchange), False


def _is_before(serial: int, other: int) -> bool:
    """Whether a serial is older than another (RFC 1982 section 3.2)."""
    return 0 < (other - serial) % SERIALS < SERIALS // 2
