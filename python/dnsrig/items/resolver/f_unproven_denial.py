"""F-unproven-denial: what did not validate denies no other name."""

from dataclasses import dataclass, replace

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._servers import ENOUGH, has_records
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_unproven import FORGED, UNPROVEN
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

NAMES = 4
DENYING = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
ITEM = Item(
    id="F-unproven-denial",
    role="resolver",
    group="Validation: denial of existence",
    requirement="NSEC and NSEC3 records that do not validate deny no name, neither the one asked for nor others.",
    references=("RFC 8198 section 5", "RFC 4035 section 5.4", "RFC 4035 section 4.5"),
    severity=Severity.CRITICAL,
    consequence=(
        "One forged response, without a valid signature, makes all names of a signed zone disappear for all clients, "
        "as long as the resolver keeps its records."
    ),
    procedure=(
        "In a zone signed with NSEC and in one with NSEC3, names are asked for, with DO and with DO and CD, that the "
        "server denies by a record for all names of the zone, without signature or with that of another record. Then "
        f"{NAMES} names of the zone that are there are asked for: their addresses come. SERVFAIL is no denial."
    ),
    dig=(
        "dig @{server} -p {port} unsigned-any.denies-all.nsec. A +dnssec +cd",
        "dig @{server} -p {port} any.denies-all.nsec. A +dnssec   # 198.18.2.85, not NXDOMAIN",
    ),
    needs=("upstream", "validates"),
    faults=("denies-beside-bogus",),
)


@dataclass(frozen=True, slots=True)
class _Zone:
    """What came in a zone: for names that are forged away, and then for others."""

    name: str
    forged: list[Exchange]
    after: list[Exchange]

    @property
    def denied(self) -> list[Exchange]:
        return [one for one in self.after if one.rcode in DENYING and not has_records(one)]


def check(subject: ResolverSubject) -> Outcome:
    """Ask in both zones at once."""
    with thread_pool(len(UNPROVEN), "unproven") as pool:
        zones = list(pool.map(lambda zone: _ask(subject, zone), UNPROVEN))
    told = [zone for zone in zones if len(zone.denied) >= ENOUGH]
    if told:
        said = " and ".join(f"{len(zone.denied)} of {NAMES} names of {zone.name}" for zone in told)
        shown = [exchange for zone in told for exchange in (zone.forged[0], zone.denied[0])]
        return failed(f"Denied after denials of other names that do not validate: {said}.", *shown)
    for zone in zones:
        untold = [one for one in zone.forged if subject.seen is not None and not subject.seen_of(one.query.name)]
        if len(untold) == len(zone.forged):
            return inconclusive(f"No name of {zone.name} that is denied came to the tree.", untold[0])
        if zone.denied or not any(map(has_records, zone.after)):
            return inconclusive(f"Names of {zone.name} are not answered as they should be.", *zone.after)
    return passed("Names are answered after denials of others that do not validate.", zones[0].forged[0])


def _ask(subject: ResolverSubject, zone: str) -> _Zone:
    origin = dns.name.from_text(zone)
    forged = []
    for kind in FORGED:
        for cd in (False, True):
            name = dns.name.Name([kind + subject.fresh_name(origin).labels[0], *origin.labels])
            forged.append(subject.asker.ask(replace(Question(name, RdataType.A).with_do, cd=cd)))
    names = [subject.fresh_name(origin) for _ in range(NAMES)]
    return _Zone(zone, forged, [subject.asker.ask(Question(name, RdataType.A).with_do) for name in names])
