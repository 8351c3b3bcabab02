"""F-cd-denial: denials that came with CD do not leak."""

from dataclasses import dataclass, replace

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PLACES = (
    ("no-proofs.nsec.", "without proof"),
    ("fresh.fresh-forged.nsec.", "with the proof for another name"),
    ("fresh.fresh-ancestor.nsec3.", "with NSEC3 records of the parent zone"),
)
"""Below these each name is denied, and how."""
ITEM = Item(
    id="F-cd-denial",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="Denials that were fetched with CD are not given without CD before they are validated.",
    references=("RFC 4035 section 5.5", "RFC 4035 section 4.7", "RFC 4035 section 3.2.2"),
    severity=Severity.CRITICAL,
    consequence="Any client that may ask with CD can help a forger to make names disappear for all others.",
    procedure=(
        "Names that are denied without proof, with the proof for another name or with records of the parent zone are "
        "asked for with RD, DO and CD, then without CD: SERVFAIL. Where other such names are denied to those who ask "
        "without CD first, too, it is not for this item."
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
    with thread_pool(len(PLACES), "denial") as pool:
        found = list(pool.map(lambda place: _Denial.asked(subject, place[0]), PLACES))
    if all(one.after.message is None for one in found) and subject.silence():
        return subject.unanswered(found[0].after)
    leaks = [(how, one) for (_, how), one in zip(PLACES, found, strict=True) if one.leaks]
    if leaks:
        said = " and one ".join(how for how, _ in leaks)
        shown = [exchange for _, one in leaks for exchange in (one.first, one.after)]
        return failed(f"A denial {said}, fetched with CD, is then given without CD.", *shown)
    if all(_is_kept_back(one.first) for one in found):
        return inconclusive("With CD no denial came, so that none could be kept (see F-cd-data).", found[0].first)
    kept = [one for one in found if one.is_kept_back]
    if not kept:
        reason = "The resolver does not keep such denials back even where nobody asked with CD."
        return inconclusive(reason, found[0].after)
    return passed(
        f"Of {len(PLACES)} kinds of denials that were fetched with CD, {len(kept)} are kept back without.",
        kept[0].after,
    )


@dataclass(frozen=True, slots=True)
class _Denial:
    """What came for a name with CD, then without, and for another name without if that was not kept back."""

    first: Exchange
    after: Exchange
    other: Exchange | None

    @classmethod
    def asked(cls, subject: ResolverSubject, zone: str) -> "_Denial":
        place = dns.name.from_text(zone)
        question = Question(subject.fresh_name(place), RdataType.A)
        first = subject.asker.ask(replace(question.with_do, cd=True))
        after = subject.asker.ask(question.with_do)
        if _is_kept_back(after):
            return cls(first, after, None)
        return cls(first, after, subject.asker.ask(Question(subject.fresh_name(place), RdataType.A).with_do))

    @property
    def is_kept_back(self) -> bool:
        return _is_kept_back(self.after)

    @property
    def leaks(self) -> bool:
        return not self.is_kept_back and self.other is not None and _is_kept_back(self.other)


def _is_kept_back(exchange: Exchange) -> bool:
    # Some take longer than clients wait until they give up: nothing was accepted.
    return exchange.response is None or exchange.rcode == dns.rcode.SERVFAIL
