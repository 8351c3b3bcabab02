"""A-chain-closed: the records of the chain fit together."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3

from dnsrig.items.authoritative._answers import first_shown, nothing_seen
from dnsrig.items.authoritative._chain import Link, extent, is_made, links, links_beside
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.denial import hash_of_owner, is_between
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed
from dnsrig.wording import counted

NEXT_ASKED = 20
CUTS_ASKED = 20
"""Delegations whose NSEC records are asked for, those at the end of the zone first: no response has those of secure
ones but denials of what comes behind."""
ITEM = Item(
    id="A-chain-closed",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="No NSEC or NSEC3 record covers a name that has such a record itself, and each points to the next one.",
    references=("RFC 4034 section 4.1.1", "RFC 4035 section 2.3", "RFC 5155 section 7.1"),
    severity=Severity.CRITICAL,
    consequence="Names that exist can be denied with a valid proof: resolvers that use RFC 8198 lose them.",
    procedure=(
        "The NSEC or NSEC3 records of the sample's denials, and of those of names behind delegations, are put in order:"
        " none lies between the ends of another. Next Domain Names that own no record among these, some of them, are "
        "asked for NSEC; they exist, and the zone does not deny their NSEC records. Where the zone's data are known, "
        "every name of it, or 500 of its RRsets, is in the sample."
    ),
    dig=("dig @{server} -p {port} {zone} NSEC +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "chain-skips-names",
        "nsec3-chain-skips-names",
        "chain-points-nowhere",
        "chain-ends-early",
        "chain-turns-early",
        "one-missing-nsec",
    ),
)


@dataclass(frozen=True, slots=True)
class Gap:
    """Where the chain does not fit together: what is wrong, as a clause, and where it shows."""

    wrong: str
    exchanges: tuple[Exchange, ...]


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare all records with each other, then ask for the next ones; one gap hides no other."""
    seen = links(subject)
    if not seen:
        return nothing_seen("a denial")
    seen = [*seen, *links_beside(subject, sorted(subject.survey.cuts, reverse=True)[:CUTS_ASKED], ())]
    nexts: dict[dns.name.Name, Link] = {}
    # Whether delegated names are there is the matter of A-referral; the owner of a record is there.
    known = {link.owner for link in seen} | subject.survey.cuts
    for link in seen:
        if isinstance(link.record, NSEC) and not is_made(link.record) and link.record.next not in known:
            nexts.setdefault(link.record.next, link)
    asked = list(nexts.items())[:NEXT_ASKED]
    gaps = [*_overlaps(seen), *(gap for name, link in asked if (gap := _dead_end(subject, name, link)) is not None)]
    unasked = len(nexts) - len(asked)
    left = f"; not asked for: {counted(unasked, 'further name')} that records point to" if unasked else ""
    if gaps:
        return _told(gaps, left)
    return passed(
        f"{len({link.owner for link in seen})} records fit together; {extent(seen)}{left}.",
        *first_shown(link.exchange for link in seen),
    )


def _told(gaps: list[Gap], left: str) -> Outcome:
    """Tell the first gap in the reason, and all of them in the evidence."""
    shown = first_shown(exchange for gap in gaps for exchange in gap.exchanges)
    if len(gaps) == 1:
        return failed(f"{gaps[0].wrong}{left}.", *shown)
    lines = "\n".join(gap.wrong for gap in gaps)
    more = f"{len(gaps) - 1} more record{'s do' if len(gaps) > 2 else ' does'} not fit either"
    return failed(f"{gaps[0].wrong}, and {more}{left}.", Evidence("Records that do not fit together", lines), *shown)


def _dead_end(subject: AuthoritativeSubject, name: dns.name.Name, link: Link) -> Gap | None:
    """Say what is wrong with the name that a record points to."""
    if not name.is_subdomain(subject.origin):
        return Gap(f"{link.title} points to {name}, outside the zone", (link.exchange,))
    exchange = subject.answers.get(name, RdataType.NSEC)
    if exchange.rcode == dns.rcode.NXDOMAIN:
        return Gap(f"{link.title} points to {name}, which does not exist", (link.exchange, exchange))
    if _denies_nsec(exchange, name, subject.origin):
        return Gap(f"{link.title} points to {name}, which has no NSEC record", (link.exchange, exchange))
    return None


def _denies_nsec(exchange: Exchange, name: dns.name.Name, origin: dns.name.Name) -> bool:
    """Say whether a response denies, as the zone's own, that there is an NSEC record at a name that is there.

    No such denial is right. At a delegation the response is a referral, or that of the child zone.
    """
    message = exchange.message
    if message is None or message.answer or exchange.rcode != dns.rcode.NOERROR or not exchange.has_flag(dns.flags.AA):
        return False
    of_zone = any(rrset.rdtype == RdataType.SOA and rrset.name == origin for rrset in message.authority)
    return of_zone and all(rrset.name != name for rrset in message.authority if rrset.rdtype == RdataType.NSEC)


def _overlaps(seen: list[Link]) -> Iterator[Gap]:
    """Find the records that lie between the ends of another, and those that differ at one name."""
    names = {link.owner: (link, link.owner, link.record.next) for link in seen if isinstance(link.record, NSEC)}
    chains: dict[tuple[int, int, bytes], dict[bytes, tuple[Link, bytes, bytes]]] = defaultdict(dict)
    different: dict[dns.name.Name, Gap] = {}
    for link in seen:
        record = link.record
        if isinstance(record, NSEC3):
            place_hashed = hash_of_owner(link.owner)
            if place_hashed is not None:
                chain_of = chains[record.algorithm, record.iterations, record.salt]
                chain_of[place_hashed] = (link, place_hashed, record.next)
        other = names.get(link.owner)
        if other is not None and isinstance(record, NSEC) and record != other[0].record and not is_made(record):
            wrong = f"There are two different NSEC records at {link.owner}"
            different.setdefault(link.owner, Gap(wrong, (link.exchange, other[0].exchange)))
    yield from different.values()
    several: list[list[tuple[Link, Any, Any]]] = [[*names.values()], *([*chain.values()] for chain in chains.values())]
    for chain in several:
        for one, covered in _covering(chain):
            wrong = f"{one.title} covers {covered.owner}, which has such a record itself"
            yield Gap(wrong, (one.exchange, covered.exchange))


def _covering(chain: list[tuple[Link, Any, Any]]) -> Iterator[tuple[Link, Link]]:
    """Find records that cover the owner of another: if one covers any, then the one after its own in their order."""
    in_order = sorted(chain, key=itemgetter(1))
    for here, (one, owner, following) in enumerate(in_order):
        other_link, place, _ = in_order[(here + 1) % len(in_order)]
        if is_between(owner, following, place):
            yield one, other_link
