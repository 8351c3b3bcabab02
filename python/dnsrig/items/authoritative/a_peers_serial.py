"""A-peers-serial: servers that agree on the serial."""

from itertools import combinations

import dns.dnssec
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._peers import judge_agreement
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, inconclusive

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
        "Each server is asked for the SOA record. A change may be on its way, so differing servers are asked again. "
        "Servers of several signers, with the same keys and signatures by different ones, may count for themselves."
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
            return outcome
    if _sign_separately(subject, [serial(exchange) for exchange in exchanges]):
        reason = f"{outcome.reason.removesuffix('.')}, but they sign with keys of their own, as several providers do."
        return inconclusive(reason, *outcome.evidence)
    return outcome


def _sign_separately(subject: AuthoritativeSubject, serials: list[int | None]) -> bool:
    """Say whether the servers that differ are primaries of several signers (RFC 8901), each of which counts for itself.

    They have the same DNSKEY RRset, and those with other serials sign the SOA record with other keys of it.
    """
    keys, signed = set(), []
    for answers in (subject.answers, *subject.peer_answers):
        exchange, soa = answers.get(subject.origin, RdataType.DNSKEY), answers.get(subject.origin, RdataType.SOA)
        keys.add(frozenset(rrset_of(exchange, "answer", subject.origin, RdataType.DNSKEY) or ()))
        signatures = rrset_of(soa, "answer", subject.origin, RdataType.RRSIG, RdataType.SOA)
        signed.append(frozenset(int(one.key_tag) for one in signatures or ()))
    tags = {dns.dnssec.key_id(key) for one in keys for key in one}
    by_signer = {signer: {serials[place] for place, one in enumerate(signed) if one == signer} for signer in signed}
    if len(keys) != 1 or not all(signer and signer <= tags for signer in signed):
        return False
    are_apart = all(not one & other for one, other in combinations(by_signer, 2))
    return are_apart and len(by_signer) > 1 and all(len(found) == 1 for found in by_signer.values())
