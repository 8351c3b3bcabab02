"""Whether names that a user gives are what they are given as: items would take a wrong one for a resolver's failure.

A name is refused only where what the resolver itself says shows it: another of the tree has AD, and this one has no
signatures, or is in a zone without DS records. Where it contradicts itself, items say so.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import dns.flags
import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.verification.asker import Asker
from dnsrig.verification.denial import has_opt_out
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.signatures import SignedRrset, is_in_time, signature_trouble, signed_rrsets
from dnsrig.verification.subjects.known_names import Question

DENIED = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
"""What a resolver says of data that are not there."""
MOST_ZONES = 16
"""Zones between a name and the trust anchor that are looked at."""
TRIES = 3
"""So often what is answered with SERVFAIL is asked for: servers may have been late."""


def refuse_unresolved(asker: Asker, zone: dns.name.Name) -> None:
    """Refuse a zone of a trust anchor whose keys the resolver answers with SERVFAIL: no item could be judged.

    Raises:
        SubjectFailedError: it does so.

    """
    question = Question(zone, RdataType.DNSKEY)
    if any(asker.ask(question.with_do).rcode != dns.rcode.SERVFAIL for _ in range(TRIES)):
        return
    said = f"{asker.server}: {question}, of the trust anchor's zone, is answered with SERVFAIL"
    if asker.ask(_with_cd(question)).rcode == dns.rcode.SERVFAIL:
        raise SubjectFailedError(
            f"{said}, with CD too: the resolver does not resolve this zone; is it of the tree that the resolver "
            "resolves from, and does the resolver reach its servers?"
        )
    raise SubjectFailedError(
        f"{said}, and with the records where CD is set: the resolver finds this zone bogus; does its own trust anchor "
        "fit the zone's keys, and is its clock right?"
    )


def refuse_wrong_names(
    asker: Asker, apexes: Sequence[dns.name.Name], given: Sequence[tuple[str, Sequence[Question]]]
) -> None:
    """Refuse questions that are not what the option says by which each was given.

    Raises:
        InputError: one is not.

    """
    check = {"--secure": _wrong_as_secure, "--insecure": _wrong_as_insecure, "--bogus": _wrong_as_bogus}
    anchor = _Look(asker, Question(apexes[0], RdataType.SOA), apexes)
    for option, questions in given:
        for question in questions:
            look = _Look(asker, question, apexes, anchor.has_ad)
            if wrong := _absent(look, anchor, option) or check[option](look, anchor):
                raise InputError(f"{option} {question.name}: {wrong}")


@dataclass
class _Look:
    """What the resolver says of a question."""

    asker: Asker
    question: Question
    anchors: Sequence[dns.name.Name]
    wants_ad: bool = False
    """Whether denials that validate come with AD, as what is in the trust anchor's zone does."""

    @cached_property
    def validated(self) -> Exchange:
        """The response with DO."""
        return self.asker.ask(self.question.with_do)

    @cached_property
    def plain(self) -> Exchange:
        """The response without EDNS."""
        return self.asker.ask(self.question.plain)

    @cached_property
    def checked_by_client(self) -> Exchange:
        """The response with CD, to whom checks signatures himself."""
        return self.asker.ask(_with_cd(self.question))

    @property
    def has_ad(self) -> bool:
        return self.validated.has_flag(dns.flags.AD)

    @property
    def rrsets(self) -> list[SignedRrset]:
        """The RRsets of the answer, also of what is bogus, each with its signatures."""
        message = self.checked_by_client.message or self.validated.message
        return [] if message is None else signed_rrsets(message, ["answer"])

    @property
    def is_unsigned(self) -> bool:
        """Whether there is an answer, with a link that has no signatures; those made of DNAME records need none."""
        owners = [one.rrset.name for one in self.rrsets if one.rrset.rdtype == RdataType.DNAME]
        return any(
            not one.signatures
            for one in self.rrsets
            if one.rrset.rdtype != RdataType.CNAME or not any(one.rrset.name.is_subdomain(owner) for owner in owners)
        )

    @property
    def is_signed(self) -> bool:
        return bool(self.rrsets) and not self.is_unsigned

    @cached_property
    def zone_without_ds(self) -> dns.name.Name | None:
        """The zone of the name, or the nearest above it, to which nothing leads from the trust anchor."""
        name = self.question.name
        for _ in range(MOST_ZONES):
            zone = _zone_of(self.asker, name)
            if zone is None or zone == dns.name.root or any(zone == one for one in self.anchors):
                return None
            exchange = self.asker.ask(Question(zone, RdataType.DS).with_do)
            is_believed = exchange.has_flag(dns.flags.AD) or _has_opt_out(exchange) or not self.wants_ad
            if _is_denial(exchange) and exchange.rcode == dns.rcode.NOERROR and is_believed:
                return zone
            name = zone.parent()
        return None

    @property
    def verifies(self) -> bool:
        """Whether each RRset of the answer has a signature by a key that the resolver gives for the signer's zone."""
        return self.is_signed and all(self._verifies(one) for one in self.rrsets)

    def _verifies(self, one: SignedRrset) -> bool:
        return any(self._trouble(one, signature) == "" for signature in one.signatures)

    @property
    def is_broken(self) -> bool:
        """Whether an RRset of the answer has signatures, and none that may verify and is in time."""
        return any(
            one.signatures and all(self._trouble(one, signature) for signature in one.signatures) for one in self.rrsets
        )

    def _trouble(self, one: SignedRrset, signature: RRSIG) -> str | None:
        """Say what is wrong with a signature; "" if nothing is, None where its key or algorithm is not known."""
        if not is_in_time(signature, int(time.time())):
            return "it is not in time"
        message = self.asker.ask(_with_cd(Question(signature.signer, RdataType.DNSKEY))).message
        rrsets = [] if message is None else message.answer
        return signature_trouble(
            one.rrset, signature, [key for each in rrsets for key in each if isinstance(key, DNSKEY)]
        )


def _absent(look: _Look, anchor: _Look, option: str) -> str:
    """Say what is not there, with DO and without."""
    exchanges = [look.plain, look.validated]
    if not all(_is_denial(one) for one in exchanges):
        return ""
    # What is kept back is not asked for with CD here: whether it leaks after that is the matter of F-cd-cache.
    if option == "--bogus" and not _is_denial(look.checked_by_client):
        return ""
    is_believed = look.has_ad or not anchor.has_ad or look.zone_without_ds is not None or _has_opt_out(look.validated)
    if option == "--bogus" and not is_believed:
        # Others come with AD, and so would a denial that validates.
        return ""
    codes = {one.rcode for one in exchanges if one.rcode is not None}
    what = "name" if codes == {dns.rcode.NXDOMAIN} else f"{look.question.rtype.name} record of this name"
    said = f"the resolver says that there is no such {what} ({' and '.join(sorted(map(dns.rcode.to_text, codes)))})"
    return f"{said}; name what is there"


def _has_opt_out(exchange: Exchange) -> bool:
    return exchange.message is not None and has_opt_out(exchange.message.authority)


def _is_denial(exchange: Exchange) -> bool:
    return exchange.message is not None and not exchange.message.answer and exchange.rcode in DENIED


def _wrong_as_secure(look: _Look, anchor: _Look) -> str:
    if look.validated.rcode == dns.rcode.SERVFAIL and look.is_broken:
        return (
            "the resolver answers it with SERVFAIL, and its signatures, which come with CD, do not verify or are not "
            "in time: it is bogus, as delv or dig +cd +dnssec shows; name one that validates, and this one by --bogus"
        )
    if look.validated.rcode != dns.rcode.NOERROR or look.has_ad:
        return ""
    if look.zone_without_ds is not None:
        return (
            f"the resolver gives it without AD, and says that its zone {look.zone_without_ds} has no DS records, so "
            "that no validator finds it secure; name one of a zone with DS records"
        )
    if look.is_unsigned and anchor.is_signed:
        return (
            f"its records come without RRSIG records and without AD, while {anchor.question} comes with RRSIG records: "
            "it is not signed, or the resolver leaves them out; look by dig +dnssec, and name a signed one"
        )
    return ""


def _wrong_as_insecure(look: _Look, anchor: _Look) -> str:
    is_believed = look.has_ad or look.validated.rcode == dns.rcode.SERVFAIL
    if not is_believed or not look.is_signed or not anchor.is_signed or look.zone_without_ds is not None:
        return ""
    said = "AD" if look.has_ad else "SERVFAIL, and the records where CD is set"
    return (
        f"the resolver gives it with {said}, with RRSIG records, and denies DS records of no zone above it: it is "
        "signed; name one of a zone without DS records"
    )


def _wrong_as_bogus(look: _Look, anchor: _Look) -> str:
    if look.validated.rcode != dns.rcode.NOERROR or not anchor.has_ad:
        return ""
    if look.zone_without_ds is not None:
        return (
            f"the resolver gives its records, and says that its zone {look.zone_without_ds} has no DS records, so that "
            "it is not bogus but insecure; name one of a zone with DS records"
        )
    if look.has_ad and look.verifies:
        return (
            "the resolver gives its records with AD, and their signatures verify with the zone's keys: it is secure; "
            "name one whose records do not validate, for which delv or dig +cd +dnssec shows why"
        )
    return ""


def _zone_of(asker: Asker, name: dns.name.Name) -> dns.name.Name | None:
    """Find the zone that has a name, by the SOA record that comes with it or with its denial; None if none comes."""
    message = asker.ask(_with_cd(Question(name, RdataType.SOA))).message
    if message is None:
        return None
    for section in (message.authority, message.answer):
        for rrset in section:
            if rrset.rdtype == RdataType.SOA and name.is_subdomain(rrset.name):
                return rrset.name
    return None


def _with_cd(question: Question) -> Query:
    return replace(question.with_do, cd=True)
