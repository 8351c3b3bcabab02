"""A-peers-serial: servers that agree on the serial."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._peers import judge_agreement
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict

PATIENCE_S = (0.0, 1.0)
"""Waits before each round: transfers after a NOTIFY take a moment."""
ITEM = Item(
    id="A-peers-serial",
    role="authoritative",
    group="Secondaries",
    requirement="All servers of the zone have the same SOA serial.",
    references=("RFC 1034 section 4.3.5", "RFC 1912 section 2.2"),
    severity=Severity.WARNING,
    consequence=(
        "Clients get old data or new as chance has it, and a secondary that stays behind lets signatures expire; unless"
        " several primaries count the zone's versions each by itself."
    ),
    procedure=(
        "Each server is asked for the SOA record. A change may be on its way, so differing servers are asked again."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +short",),
    needs=("zone", "peers"),
    faults=("old-serial",),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask each server."""

    def serial(exchange: Exchange) -> int | None:
        rrset = rrset_of(exchange, "answer", subject.origin, RdataType.SOA)
        return None if rrset is None else int(rrset[0].serial)

    def in_words(exchange: Exchange) -> str:
        found = serial(exchange)
        return "no SOA record" if found is None else f"serial {found}"

    for wait_s in PATIENCE_S:
        pause(wait_s)
        exchanges = [asker.ask(soa_query(subject)) for asker in (subject.asker, *subject.peers)]
        outcome = judge_agreement(exchanges, serial, in_words)
        if outcome.verdict is not Verdict.FAIL:
            break
    return outcome
