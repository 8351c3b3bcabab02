"""What the items about the zone's data look at: RRsets as the server transfers them, or else as it answers them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import dns.message
import dns.name
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import first_shown, is_synthesised, sample
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.kept import kept_property
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, failed, not_applicable, passed

MOST_REFERRALS = 100
"""Delegations that are asked for, where more are known."""
ADDRESSES = (RdataType.A, RdataType.AAAA)
"""Types of glue."""
SINGLE = {RdataType.CNAME, RdataType.DNAME}
LEFT_OUT = {RdataType.NSEC, RdataType.NSEC3, RdataType.RRSIG}


@dataclass(frozen=True, slots=True)
class Published:
    """An RRset of the zone."""

    name: dns.name.Name
    rtype: RdataType
    ttl_s: int
    records: tuple[dns.rdata.Rdata, ...]
    exchange: Exchange | None
    """The response that it was in; None for one of a transfer."""

    @property
    def title(self) -> str:
        """Owner name and type."""
        return f"{self.name} {self.rtype.name}"

    @property
    def shown(self) -> Exchange | Evidence:
        """What it was seen in."""
        if self.exchange is not None:
            return self.exchange
        lines = "\n".join(f"{self.name} {self.ttl_s} IN {self.rtype.name} {one}" for one in self.records)
        return Evidence(f"{self.title} in the transfer", lines)


@dataclass(frozen=True)
class Contents:
    """The RRsets of a zone that are known, without NSEC, NSEC3 and RRSIG; also glue, and data that are occluded."""

    origin: dns.name.Name
    rrsets: dict[tuple[dns.name.Name, RdataType], Published]
    is_whole: bool
    """Whether these are all that the zone has: they were transferred."""

    def of(self, *rtypes: RdataType) -> Iterator[Published]:
        """Give the RRsets of some types, in the order of their names."""
        for key in sorted(self.rrsets):
            if key[1] in rtypes:
                yield self.rrsets[key]

    def get(self, name: dns.name.Name, rtype: RdataType) -> Published | None:
        """Give an RRset if it is known."""
        return self.rrsets.get((name, rtype))

    @kept_property
    def _by_name(self) -> dict[dns.name.Name, list[Published]]:
        found: dict[dns.name.Name, list[Published]] = {}
        for key in sorted(self.rrsets):
            found.setdefault(key[0], []).append(self.rrsets[key])
        return found

    def at(self, name: dns.name.Name) -> list[Published]:
        """Give the RRsets of a name."""
        return self._by_name.get(name, [])

    def delegated(self, name: dns.name.Name) -> dns.name.Name | None:
        """Give the delegation at or above a name, if there is one."""
        return self._above(name, RdataType.NS)

    def redirected(self, name: dns.name.Name) -> dns.name.Name | None:
        """Give the owner of a DNAME record above a name, if there is one."""
        return None if name == self.origin else self._above(name.parent(), RdataType.DNAME, is_apex_too=True)

    def _above(self, name: dns.name.Name, rtype: RdataType, *, is_apex_too: bool = False) -> dns.name.Name | None:
        found = None
        while name.is_subdomain(self.origin) and (name != self.origin or is_apex_too):
            if (name, rtype) in self.rrsets:
                found = name
            if name == self.origin:
                break
            name = name.parent()
        return found


def contents(subject: AuthoritativeSubject) -> Contents:
    """Give what is known of the zone's data."""

    def found() -> Contents:
        return _answered(subject) if subject.transfer.zone is None else _transferred(subject)

    return subject.once("contents", found)


def _transferred(subject: AuthoritativeSubject) -> Contents:
    """Take the records as they came: a zone of dnspython's has no room for data beside a CNAME record."""
    found: dict[tuple[dns.name.Name, RdataType], Published] = {}
    for rrset in subject.transfer.rrsets:
        rtype = RdataType.make(rrset.rdtype)
        if rtype in LEFT_OUT or not rrset.name.is_subdomain(subject.origin):
            continue
        before = found.get((rrset.name, rtype))
        records = dict.fromkeys([*(() if before is None else before.records), *rrset])
        ttl_s = rrset.ttl if before is None else min(before.ttl_s, rrset.ttl)
        found[rrset.name, rtype] = Published(rrset.name, rtype, ttl_s, tuple(records), None)
    return Contents(subject.origin, found, is_whole=True)


def _answered(subject: AuthoritativeSubject) -> Contents:
    found: dict[tuple[dns.name.Name, RdataType], Published] = {}
    for exchange in [subject.soa, *sample(subject)]:
        name = exchange.query.name
        # Names that were thought up have no data of their own.
        is_made_up = name is not None and subject.denied_label in name.labels
        for rrset in [] if exchange.message is None else exchange.message.answer:
            if rrset.name == name and not is_made_up and not is_synthesised(rrset.name, exchange):
                _note(found, rrset, exchange)
    for cut, exchange in referrals(subject):
        message = exchange.message
        for rrset in [] if message is None else (*message.authority, *message.additional):
            is_cut = rrset.name == cut and rrset.rdtype == RdataType.NS
            if is_cut or (rrset.rdtype in ADDRESSES and rrset.name.is_subdomain(subject.origin)):
                _note(found, rrset, exchange)
    return Contents(subject.origin, found, is_whole=False)


def _note(found: dict[tuple[dns.name.Name, RdataType], Published], rrset: dns.rrset.RRset, exchange: Exchange) -> None:
    rtype = RdataType.make(rrset.rdtype)
    if rtype not in LEFT_OUT:
        records = _all_of(rrset, exchange) if rtype in SINGLE else tuple(rrset)
        found.setdefault((rrset.name, rtype), Published(rrset.name, rtype, rrset.ttl, records, exchange))


def _all_of(rrset: dns.rrset.RRset, exchange: Exchange) -> tuple[dns.rdata.Rdata, ...]:
    """Give all records of an RRset of a type that is to have one only, of which dnspython keeps the last."""
    message = dns.message.from_wire(exchange.response or b"", one_rr_per_rrset=True)
    same = (one for one in message.answer if (one.name, one.rdtype) == (rrset.name, rrset.rdtype))
    # Copies are A-repeated's to tell.
    return tuple(dict.fromkeys(record for one in same for record in one))


def referrals(subject: AuthoritativeSubject) -> list[tuple[dns.name.Name, Exchange]]:
    """Ask for the NS records of every delegation that is known, or of many; give those that get a referral."""
    return subject.once("referrals", lambda: list(_referrals(subject)))


def _referrals(subject: AuthoritativeSubject) -> Iterator[tuple[dns.name.Name, Exchange]]:
    if not subject.survey.asked:
        return
    for cut in sorted(subject.survey.cuts)[:MOST_REFERRALS]:
        exchange = subject.answers.get(cut, RdataType.NS)
        if exchange.response is None:
            return
        message = exchange.message
        authority = [] if message is None or message.answer else message.authority
        if any(rrset.name == cut and rrset.rdtype == RdataType.NS for rrset in authority):
            yield cut, exchange


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with an RRset, as a sentence."""

    sentence: str
    at: Sequence[Published | Exchange]
    """Where it is seen."""


def judge_data(
    subject: AuthoritativeSubject, flaws: Iterable[Flaw], judged: Sequence[Published], what: str, held: str
) -> Outcome:
    """Fail with the first flaw; without any, pass if there was anything to judge.

    `what` names what there would have to be; `held` is the reason of a pass, with {count} for what was judged.
    """
    found = list(flaws)
    if found:
        others = len(found) - 1
        more = f" {others} more {'are' if others > 1 else 'is'} wrong likewise." if others else ""
        shown = [one.shown if isinstance(one, Published) else one for one in found[0].at]
        return failed(f"{found[0].sentence}{more}", *shown)
    if not judged:
        return not_applicable(subject.unknown(what, is_whole=contents(subject).is_whole))
    shown_first = [one.exchange for one in judged if one.exchange is not None]
    return passed(held.format(count=len(judged)), *first_shown(shown_first)[:1])
