"""F-cd-denial: denials that came with CD do not leak."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PLACES = (
    ("no-proofs.nsec.", "without proof"),
    ("spoiled-proofs.nsec.", "with wrong signatures"),
    ("fresh.fresh-forged.nsec.", "with the proof for another name"),
    ("fresh.fresh-ancestor.nsec.", "with NSEC records of the parent zone"),
    ("fresh.fresh-ancestor.nsec3.", "with NSEC3 records of the parent zone"),
)
"""Below these each name is denied, and how."""
SHOWN = 2
ITEM = Item(
    id="F-cd-denial",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="Denials that were fetched with CD are not given without CD before they are validated.",
    references=("RFC 4035 section 5.5", "RFC 4035 section 4.7", "RFC 4035 section 3.2.2"),
    severity=Severity.CRITICAL,
    consequence="Any client that may ask with CD can help a forger to make names disappear for all others.",
    procedure=(
        "Names that are denied without proof, with wrong signatures, with the proof for another name or with records "
        "of the parent zone are asked for with RD, DO and CD, then without CD: SERVFAIL. Where other such names are "
        "denied to those who ask without CD first, too, it is not for this item."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.fresh-ancestor.nsec3. A +dnssec +cd",
        "dig @{server} -p {port} any.fresh.fresh-ancestor.nsec3. A +dnssec",
    ),
    needs=("upstream", "validates"),
    faults=("leaks-bogus-after-cd", "leaks-denials-after-cd"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with CD, then without, for a fresh name of each kind."""
    leaks: list[str] = []
    evidence: list[Exchange] = []
    kept: list[Exchange] = []
    for zone, how in PLACES:
        place = dns.name.from_text(zone)
        name = subject.fresh_name(place)
        first = _ask(subject, name, cd=True)
        exchange = _ask(subject, name)
        if exchange.message is None:
            return subject.unanswered(exchange)
        if exchange.rcode == dns.rcode.SERVFAIL:
            kept.append(exchange)
        elif _ask(subject, subject.fresh_name(place)).rcode == dns.rcode.SERVFAIL:
            leaks.append(how)
            evidence += [first, exchange]
    if leaks:
        said = f"A denial {' and one '.join(leaks)}, fetched with CD,"
        return failed(f"{said} is then given without CD.", *evidence[: 2 * SHOWN])
    if not kept:
        return inconclusive("The resolver does not keep such denials back even where nobody asked with CD.", exchange)
    return passed(
        f"Of {len(PLACES)} kinds of denials that were fetched with CD, {len(kept)} are answered with SERVFAIL without.",
        kept[0],
    )


def _ask(subject: ResolverSubject, name: dns.name.Name, *, cd: bool = False) -> Exchange:
    return subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, do=True, cd=cd))
