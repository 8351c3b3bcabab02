"""Faults of resolvers in the form of their responses: question, flags, TTLs, options, records that are left out."""

from collections.abc import Callable, Sequence

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, dropping, is_denial, move_aliases, refusing, replace_rdatas
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of

LONGEST_TTL = 2**31 - 1
LEAST_TTL_S = 60
"""As resolvers may be set up to have (cache-min-ttl); most of the tree's records have it anyway."""
SOA_TTL_S = 300
"""Of SOA records in the tree, whose MINIMUM is less."""
PAYLOAD = 1232
WRONG_ADDRESS = "203.0.113.99"
BOGUS_ZONES = tuple(map(dns.name.from_text, ("bad-signature.nsec.", "control-bogus.nsec.")))
PROOFS = (RdataType.NSEC, RdataType.NSEC3)
Edit = Callable[[dns.message.Message], None]


def _drop_question(answer: dns.message.Message) -> None:
    answer.question = []


def _other_question(answer: dns.message.Message) -> None:
    for rrset in answer.question:
        rrset.name = dns.name.from_text("other.test.")


def _flags(*, on: int = 0, off: int = 0) -> Edit:
    def change(answer: dns.message.Message) -> None:
        answer.flags = dns.flags.Flag((answer.flags & ~off) | on)

    return change


def _raise_ttls(answer: dns.message.Message) -> None:
    for rrset in (*answer.answer, *answer.authority):
        rrset.ttl = LONGEST_TTL


def _raise_short_ttls(answer: dns.message.Message) -> None:
    for rrset in (*answer.answer, *answer.authority):
        rrset.ttl = max(rrset.ttl, LEAST_TTL_S)


def _give_soa_ttl(answer: dns.message.Message) -> None:
    for rrset in answer.authority:
        if rrset.rdtype == RdataType.SOA:
            rrset.ttl = SOA_TTL_S


def _drop_soa(answer: dns.message.Message) -> None:
    if not answer.answer:
        answer.authority = [one for one in answer.authority if RdataType.SOA not in {one.rdtype, one.covers}]


def _replace_addresses(answer: dns.message.Message) -> None:
    for rrset in answer.answer:
        if rrset.rdtype == RdataType.A:
            other = dns.rrset.from_text(rrset.name, rrset.ttl, "IN", "A", WRONG_ADDRESS)
            replace_rdatas(rrset, list(other))


def _drop_last_record(answer: dns.message.Message) -> None:
    for rrset in answer.answer:
        if rrset.rdtype == RdataType.TXT and len(rrset) > 1:
            replace_rdatas(rrset, sorted(rrset)[:-1])


def _without_proofs(answer: dns.message.Message, types: Sequence[RdataType] = PROOFS) -> None:
    answer.authority = [one for one in answer.authority if not {one.rdtype, one.covers} & set(types)]


def _strip_wildcard_proofs(answer: dns.message.Message) -> None:
    if answer.answer:
        _without_proofs(answer)


def _strip_type_proofs(answer: dns.message.Message) -> None:
    if is_denial(answer) and answer.rcode() == dns.rcode.NOERROR:
        _without_proofs(answer)


def _strip_nsec3(answer: dns.message.Message) -> None:
    _without_proofs(answer, (RdataType.NSEC3,))


def _redirect(passage: Passage) -> bytes:
    answer = passage.answer
    asks_for_address = answer.question and answer.question[0].rdtype == RdataType.A
    if answer.rcode() != dns.rcode.NXDOMAIN or passage.asked.edns >= 0 or not asks_for_address:
        return passage.response
    answer.set_rcode(dns.rcode.NOERROR)
    answer.answer = [dns.rrset.from_text(answer.question[0].name, 60, "IN", "A", WRONG_ADDRESS)]
    answer.authority = []
    return wire_of(answer)


def _strip_alias_signatures(answer: dns.message.Message) -> None:
    answer.answer = [one for one in answer.answer if one.covers != RdataType.CNAME]


def _truncate_by_tcp(passage: Passage) -> bytes:
    answer = passage.answer
    answer.flags |= dns.flags.TC if passage.transport == "tcp" else 0
    return wire_of(answer)


def _strip_soa_signature(answer: dns.message.Message) -> None:
    answer.authority = [one for one in answer.authority if one.covers != RdataType.SOA]


def _set_ad_on_failure(answer: dns.message.Message) -> None:
    if answer.rcode() == dns.rcode.SERVFAIL:
        answer.flags |= dns.flags.AD


def _asks_for_ad_without_edns(query: dns.message.Message) -> bool:
    return query.edns < 0 and bool(query.flags & dns.flags.AD)


def _set_ad(answer: dns.message.Message) -> None:
    if answer.rcode() == dns.rcode.NOERROR:
        answer.flags |= dns.flags.AD


def _give_with_failure(answer: dns.message.Message) -> None:
    if answer.rcode() == dns.rcode.SERVFAIL and answer.question:
        answer.answer = [dns.rrset.from_text(answer.question[0].name, 60, "IN", "A", WRONG_ADDRESS)]


def _is_bogus(query: dns.message.Message) -> bool:
    return bool(query.question) and any(query.question[0].name.is_subdomain(zone) for zone in BOGUS_ZONES)


def _is_bogus_address(query: dns.message.Message) -> bool:
    return _is_bogus(query) and query.question[0].rdtype == RdataType.A


def _add_opt(answer: dns.message.Message) -> None:
    if answer.edns < 0:
        answer.use_edns(0, 0, PAYLOAD)


def _echo_options(passage: Passage) -> bytes:
    asked, answer = passage.asked, passage.answer
    if not asked.options or answer.edns < 0:
        return passage.response
    answer.use_edns(0, answer.ednsflags, answer.payload, options=[*answer.options, *asked.options])
    return wire_of(answer)


def _has_options(query: dns.message.Message) -> bool:
    return any(isinstance(option, dns.edns.GenericOption) for option in query.options)


def _unchecked(is_meant: Callable[[Passage], bool]) -> tuple[Change, Change]:
    """Ask such queries with CD, and give what comes as if it had not been."""

    def on_query(passage: Passage) -> bytes:
        if not is_meant(passage):
            return passage.query
        query = passage.asked
        query.flags |= dns.flags.CD
        return wire_of(query)

    def on_response(passage: Passage) -> bytes:
        if not is_meant(passage):
            return passage.response
        answer = passage.answer
        answer.flags &= ~int(dns.flags.AD) & ~(int(dns.flags.CD) & ~int(passage.asked.flags))
        return wire_of(answer)

    return unchanged_if_unreadable(on_query), unchanged_if_unreadable(on_response)


_BY_TCP = _unchecked(lambda passage: passage.transport == "tcp" and _is_bogus(passage.asked))
_NOT_ADDRESSES = _unchecked(
    lambda passage: _is_bogus(passage.asked) and passage.asked.question[0].rdtype != RdataType.A
)
_WITHOUT_DO = _unchecked(
    lambda passage: (
        _is_bogus(passage.asked) and not (passage.asked.edns >= 0 and passage.asked.ednsflags & dns.flags.DO)
    )
)
_RESPONSES: tuple[tuple[str, str, Change], ...] = (
    ("answers-without-question", "gives responses without question", changing(_drop_question)),
    ("answers-another-question", "gives responses with another question", changing(_other_question)),
    ("denies-recursion", "clears RA in responses", changing(_flags(off=dns.flags.RA))),
    ("forgets-recursion-desired", "clears RD in responses", changing(_flags(off=dns.flags.RD))),
    ("claims-authority", "sets AA in responses", changing(_flags(on=dns.flags.AA))),
    ("raises-all-ttls", "gives every record the longest TTL", changing(_raise_ttls)),
    ("raises-short-ttls", f"gives no TTL below {LEAST_TTL_S} s", changing(_raise_short_ttls)),
    ("gives-soa-ttl", "gives denials the TTL that the SOA record itself has", changing(_give_soa_ttl)),
    (
        "redirects-missing-names",
        "gives addresses for names that do not exist without DO",
        unchanged_if_unreadable(_redirect),
    ),
    ("strips-alias-signatures", "leaves the signatures of aliases out", changing(_strip_alias_signatures)),
    ("moves-aliases", "puts aliases behind what they lead to", changing(move_aliases)),
    ("truncates-by-tcp", "sets TC in responses by TCP", unchanged_if_unreadable(_truncate_by_tcp)),
    ("denies-without-soa", "leaves the SOA record out of negative responses", changing(_drop_soa)),
    ("gives-wrong-addresses", "gives another address for each, with AD as before", changing(_replace_addresses)),
    ("gives-part-of-texts", "leaves a record out of TXT RRsets", changing(_drop_last_record)),
    (
        "strips-wildcard-proofs",
        "leaves NSEC and NSEC3 records out of answers from wildcards",
        changing(_strip_wildcard_proofs),
    ),
    ("strips-type-proofs", "leaves NSEC and NSEC3 records out where a type is missing", changing(_strip_type_proofs)),
    ("strips-nsec3", "leaves NSEC3 records out", changing(_strip_nsec3)),
    ("strips-soa-signature", "leaves the signature of SOA out of negative responses", changing(_strip_soa_signature)),
    ("sets-ad-on-servfail", "sets AD in responses with SERVFAIL", changing(_set_ad_on_failure)),
    (
        "sets-ad-without-edns",
        "sets AD wherever it is asked for without EDNS",
        changing(_set_ad, _asks_for_ad_without_edns),
    ),
    (
        "gives-bogus-with-servfail",
        "gives bogus addresses along with SERVFAIL",
        changing(_give_with_failure, _is_bogus_address),
    ),
    ("answers-with-opt-always", "gives responses with OPT to queries without", changing(_add_opt)),
    ("echoes-client-options", "gives EDNS options back that it does not know", unchanged_if_unreadable(_echo_options)),
    (
        "refuses-client-options",
        "answers queries with EDNS options that it does not know with FORMERR",
        refusing(_has_options, dns.rcode.FORMERR),
    ),
)
FAULTS = (
    *(Fault(name=name, does=does, roles=("resolver",), on_response=change) for name, does, change in _RESPONSES),
    Fault(
        name="validates-by-udp-only",
        does="does not validate for queries by TCP",
        roles=("resolver",),
        on_query=_BY_TCP[0],
        on_response=_BY_TCP[1],
    ),
    Fault(
        name="validates-addresses-only",
        does="validates no types but A",
        roles=("resolver",),
        on_query=_NOT_ADDRESSES[0],
        on_response=_NOT_ADDRESSES[1],
    ),
    Fault(
        name="silent-on-bogus",
        does="does not answer where data do not validate",
        roles=("resolver",),
        on_query=dropping(lambda query: _is_bogus(query) and not query.flags & dns.flags.CD),
    ),
    Fault(
        name="validates-with-do-only",
        does="does not validate for queries without DO",
        roles=("resolver",),
        on_query=_WITHOUT_DO[0],
        on_response=_WITHOUT_DO[1],
    ),
)
