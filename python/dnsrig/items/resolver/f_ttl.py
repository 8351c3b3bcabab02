"""F-ttl: TTLs no longer than the zone's."""

import dns.name
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.resolver._forged import ask_plainly, fresh_in
from dnsrig.items.resolver._published import published
from dnsrig.items.resolver._usual import PROCEDURE, judged, usual_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signed_rrsets
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_ttls import SHORT, SHORT_TTL_S
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-ttl",
    role="resolver",
    group="Messages",
    requirement="The resolver gives no record with a longer TTL than the zone.",
    references=("RFC 1035 section 3.2.1", "RFC 4035 section 5.3.3", "RFC 2308 section 5"),
    severity=Severity.ERROR,
    consequence="What its clients cache outlives changes of the zone, such as the address of a server that moved.",
    procedure=PROCEDURE
    + (
        "In each response, no RRset of the answer section, and no SOA record of the authority section, has a longer "
        "TTL than in the zone, or than the original TTL of its signature where the zone is not the rig's. Denials of "
        "the rig's zones have no longer one than the SOA record's MINIMUM either, as their servers give them. In the "
        f"rig's tree, a name and a denial with a TTL of {SHORT_TTL_S} s are asked for too: a least TTL that is set in "
        "the resolver shows there."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +noedns",
        f"dig @{{server}} -p {{port}} any.fresh.{SHORT} A +noedns",
    ),
    needs=("names",),
    faults=("gives-soa-ttl", "raises-all-ttls", "raises-short-ttls"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at the TTLs of each usual response, and at short ones."""
    exchanges = [*usual_responses(subject), *_short_ones(subject)]
    if not exchanges:
        return subject.unanswered(subject.plain_control)
    found = [(exchange, _complaint(subject, exchange)) for exchange in exchanges]
    return judged(found, "no TTL is longer than the zone's")


def _short_ones(subject: ResolverSubject) -> list[Exchange]:
    """Ask for what has a TTL of seconds: the usual names' are as long as what resolvers raise shorter ones to."""
    if subject.tree is None:
        return []
    absent = subject.fresh_name(dns.name.from_text(SHORT))
    asked = [ask_plainly(subject, name) for name in (fresh_in(subject, SHORT), absent)]
    return [exchange for exchange in asked if exchange.message is not None]


def _complaint(subject: ResolverSubject, exchange: Exchange) -> str:
    if exchange.message is None:
        return ""
    for signed in signed_rrsets(exchange.message, ("answer", "authority")):
        rrset = signed.rrset
        if signed.section == "authority" and rrset.rdtype != RdataType.SOA:
            continue
        originals = [int(signature.original_ttl) for signature in signed.signatures]
        limit_s = max(originals, default=None) if subject.tree is None else _published_ttl(subject, rrset)
        if limit_s is not None and rrset.ttl > limit_s:
            return f"{signed.title} has TTL {rrset.ttl}, in the zone {limit_s}"
        # Servers elsewhere may give the SOA record's own TTL, and resolvers need not look at its MINIMUM.
        if signed.section == "authority" and subject.tree is not None and rrset.ttl > rrset[0].minimum:
            return f"{signed.title} has TTL {rrset.ttl}, its MINIMUM is {rrset[0].minimum}"
    return ""


def _published_ttl(subject: ResolverSubject, rrset: dns.rrset.RRset) -> int | None:
    found = published(subject, rrset.name, RdataType.make(rrset.rdtype))
    return None if found is None else int(found.ttl)
