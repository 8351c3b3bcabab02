"""Faults of the caches of DNS proxies (JPRS-2010 case 7 item 5): what comes the second time."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import of_type, without_types
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

PROXY: tuple[Role, ...] = ("proxy",)
OLD_LIMIT = 512
SIMPLE = {RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT}
Key = tuple[object, ...]


def _do_of(query: dns.message.Message) -> bool:
    return query.edns >= 0 and bool(query.ednsflags & dns.flags.DO)


def _usual_key(query: dns.message.Message) -> Key:
    """Everything that the response depends on."""
    question = query.question[0]
    flags = int(query.flags) & (dns.flags.CD | dns.flags.AD | dns.flags.RD)
    # Spelling counts here: one that has to give back the client's question needs no more care.
    return (question.name.labels, question.rdtype, question.rdclass, flags, query.edns, _do_of(query))


def _without_do(query: dns.message.Message) -> Key:
    question = query.question[0]
    return (question.name, question.rdtype, question.rdclass, int(query.flags) & dns.flags.CD)


def _with_edns_only(query: dns.message.Message) -> Key:
    return (*_usual_key(query)[:4], query.edns)


def _without_cd(query: dns.message.Message) -> Key:
    question = query.question[0]
    return (question.name, question.rdtype, question.rdclass, query.edns, _do_of(query))


def _without_type(query: dns.message.Message) -> Key:
    question = query.question[0]
    return (question.name.labels, question.rdclass, query.edns, _do_of(query), int(query.flags))


def _without_class(query: dns.message.Message) -> Key:
    question = query.question[0]
    return (question.name.labels, question.rdtype, query.edns, _do_of(query), int(query.flags))


def _without_case(query: dns.message.Message) -> Key:
    return (query.question[0].name, *_usual_key(query)[1:])


def _without_edns(query: dns.message.Message) -> Key:
    return (*_usual_key(query)[:4], _do_of(query))


def _has_plain_answer(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.NOERROR and bool(answer.answer) and not answer.flags & dns.flags.TC


@dataclass(frozen=True, slots=True)
class _Cache:
    """A cache that is right but for what its fields say; the relay holds what it keeps."""

    key: Callable[[dns.message.Message], Key] = _usual_key
    spoil: Callable[[dns.message.Message], None] = lambda _: None
    """Changes what comes from the cache."""
    spoils_first: bool = False
    """What does not come from the cache is changed, too."""
    is_kept: Callable[[dns.message.Message], bool] = _has_plain_answer
    ages: bool = True
    keeps_ttl_zero: bool = False
    spells_anew: bool = True
    """The question is spelt as the client did."""
    drops_opt: bool = True
    """Clients without EDNS get no OPT."""
    limits_udp: bool = True
    """What is too long for the client by UDP does not come from the cache."""
    minds_subnets: bool = True
    """Queries with a client subnet go to the server that is right, as those with other options do."""

    def on_query(self, passage: Passage) -> bytes:
        query = passage.asked
        if query.opcode() != dns.opcode.QUERY or not self._is_simple(query):
            return passage.query
        found = passage.cache.get(self.key(query))
        if found is not None:
            made = self._again(query, *found)
            limit = OLD_LIMIT if query.edns < 0 else max(query.payload, OLD_LIMIT)
            if passage.transport == "tcp" or len(made) <= limit or not self.limits_udp:
                passage.instead = made
        return passage.query

    def on_response(self, passage: Passage) -> bytes:
        query, answer = passage.asked, passage.answer
        if self._is_simple(query) and self.is_kept(answer):
            least_s = min((rrset.ttl for rrset in (*answer.answer, *answer.authority)), default=0)
            if least_s or self.keeps_ttl_zero:
                passage.cache[self.key(query)] = (passage.response, time.monotonic())
        if self.spoils_first and self._is_simple(query):
            self.spoil(answer)
            return wire_of(answer)
        return passage.response

    def _is_simple(self, query: dns.message.Message) -> bool:
        """Whether the response depends on what the key has."""
        minded = [one for one in query.options if self.minds_subnets or one.otype != dns.edns.OptionType.ECS]
        return len(query.question) == 1 and query.edns <= 0 and not minded

    def _again(self, query: dns.message.Message, response: bytes, at_s: float) -> bytes:
        answer = dns.message.from_wire(response)
        answer.id = query.id
        if self.spells_anew:
            answer.question = query.question
        age_s = int(time.monotonic() - at_s)
        for rrset in (*answer.answer, *answer.authority, *answer.additional):
            rrset.ttl = max(rrset.ttl - age_s, 0) if self.ages else rrset.ttl
        if query.edns < 0 and self.drops_opt:
            answer.use_edns(False)
        self.spoil(answer)
        return wire_of(answer)


def _without_rrsig(message: dns.message.Message) -> None:
    message.answer = without_types(message.answer, RdataType.RRSIG)
    message.authority = without_types(message.authority, RdataType.RRSIG)


def _clear_ad(message: dns.message.Message) -> None:
    message.flags &= ~dns.flags.AD


def _without_proofs(message: dns.message.Message) -> None:
    if not of_type(message.authority, RdataType.SOA):
        return
    message.authority = without_types(message.authority, RdataType.NSEC, RdataType.NSEC3, RdataType.RRSIG)


def _keep_some_types(message: dns.message.Message) -> None:
    """Keep the signatures of some types alone, and no NSEC where a type is denied."""
    if message.question[0].rdtype not in SIMPLE:
        _without_rrsig(message)
    elif _is_empty(message):
        _without_proofs(message)


def _without_rrsig_of_ds(message: dns.message.Message) -> None:
    if message.question[0].rdtype == RdataType.DS:
        _without_rrsig(message)


def _own_flags(message: dns.message.Message) -> None:
    message.flags = (message.flags | dns.flags.AA) & ~dns.flags.RA


def _without_opt(message: dns.message.Message) -> None:
    message.use_edns(False)


def _is_any(answer: dns.message.Message) -> bool:
    return answer.rcode() in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} and not answer.flags & dns.flags.TC


def _is_nxdomain(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.NXDOMAIN and not answer.flags & dns.flags.TC


def _is_empty(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.NOERROR and not answer.answer and not answer.flags & dns.flags.TC


def _is_denial(answer: dns.message.Message) -> bool:
    return _is_nxdomain(answer) or _is_empty(answer)


def _is_refused(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.REFUSED


def _is_servfail(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.SERVFAIL


_DENIALS_OF_NAMES = _Cache(key=_without_type, is_kept=_is_empty)


def _fault(name: str, does: str, cache: _Cache) -> Fault:
    return Fault(
        name=f"proxy-{name}",
        does=does,
        roles=PROXY,
        on_query=unchanged_if_unreadable(cache.on_query),
        on_response=unchanged_if_unreadable(cache.on_response),
    )


FAULTS = (
    _fault("caches-without-rrsig", "keeps no signatures in its cache", _Cache(spoil=_without_rrsig)),
    _fault("caches-without-proofs", "keeps no denials in its cache", _Cache(spoil=_without_proofs, is_kept=_is_any)),
    _fault(
        "caches-some-types",
        "keeps signatures of A, AAAA, MX and TXT records alone in its cache, and no denials of types",
        _Cache(spoil=_keep_some_types, is_kept=_is_any),
    ),
    _fault(
        "strips-rrsig-of-ds",
        "takes signatures of DS records out of responses, from its cache and not",
        _Cache(spoil=_without_rrsig_of_ds, spoils_first=True),
    ),
    _fault("caches-without-flags", "sets AA and clears RA in what comes from its cache", _Cache(spoil=_own_flags)),
    _fault("caches-without-opt", "keeps no OPT in its cache", _Cache(spoil=_without_opt)),
    _fault("cache-ignores-do", "does not mind DO in its cache", _Cache(key=_without_do)),
    _fault("cache-minds-edns-only", "minds EDNS in its cache, and not DO", _Cache(key=_with_edns_only)),
    _fault("denials-ignore-do", "minds no DO in its cache of denials", _Cache(key=_without_do, is_kept=_is_denial)),
    _fault("cache-ignores-cd", "does not mind CD in its cache", _Cache(key=_without_cd)),
    _fault("cache-keeps-ttl", "does not count TTLs down in its cache", _Cache(ages=False)),
    _fault("caches-nxdomain-for-ever", "keeps NXDOMAIN for ever", _Cache(is_kept=_is_nxdomain, ages=False)),
    _fault("caches-servfail", "keeps SERVFAIL for ever", _Cache(is_kept=_is_servfail, keeps_ttl_zero=True)),
    _fault("caches-refused", "keeps REFUSED for ever", _Cache(is_kept=_is_refused, keeps_ttl_zero=True)),
    _fault("caches-empty-for-ever", "keeps denials of types for ever", _Cache(is_kept=_is_empty, ages=False)),
    _fault("cache-ignores-type", "does not mind types in its cache", _Cache(key=_without_type)),
    _fault("denials-ignore-type", "denies all types from its cache where one is absent", _DENIALS_OF_NAMES),
    _fault("cache-ignores-class", "does not mind classes in its cache", _Cache(key=_without_class)),
    _fault("cache-loses-ad", "keeps no AD in its cache", _Cache(spoil=_clear_ad)),
    _fault("cache-ignores-case", "spells as its first client did", _Cache(key=_without_case, spells_anew=False)),
    _fault("cache-ignores-edns", "does not mind EDNS in its cache", _Cache(key=_without_edns)),
    _fault("cache-adds-opt", "gives OPT from its cache to all", _Cache(key=_without_edns, drops_opt=False)),
    _fault("cache-ignores-transport", "gives by UDP from its cache what came by TCP", _Cache(limits_udp=False)),
    _fault("cache-ignores-subnets", "does not mind client subnets in its cache", _Cache(minds_subnets=False)),
    _fault("caches-ttl-zero", "keeps records with TTL 0 in its cache", _Cache(keeps_ttl_zero=True)),
)
