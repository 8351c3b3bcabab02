"""What the proxy changed in an exchange, of every part of both messages, in words that fit other exchanges too."""

from collections.abc import Iterable

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.queries import Z_BIT
from dnsrig.verification.subjects.proxy import Through
from dnsrig.verification.transparency import (
    HEADER_FLAGS,
    SECTIONS,
    edns_differences,
    flag_differences,
    question_differences,
    raised_ttls,
    rcode_differences,
    records,
    spelling,
    without_dnssec,
)
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.server import Forwarded

OF_ANSWERS = tuple(flag for flag in HEADER_FLAGS if flag not in {"TC", "AD", "CD"})
"""TC depends on how much a transport carries, which is the matter of items about size. AD is of who validates, which a
proxy may do (RFC 4035 section 3.2.3): P-ad is about it. CD is the client's."""
OF_QUERIES = "in queries, "
Sections = tuple[list[dns.rrset.RRset], list[dns.rrset.RRset]]
EDNS_FLAGS_BUT_DO = 0x7FFF
OF_OTHERS = {*names.FORGED, names.TRUNCATED, names.PRIVATE, names.CASE, "size"}
"""What names say that items about forged responses and size ask for, and those about what may be meant or does little
harm: P-private, P-case and P-ttl-zero are no errors."""
ADDED = {"AD is set", "CD is set", "DO is set"}
"""What a proxy may do to queries, as one that validates does (RFC 6840 section 5.9): what comes back for it does not go
on to the client."""


def changes(through: Through) -> frozenset[str] | None:
    """Say what was changed, as clauses without names and data; None where there is nothing that could be compared.

    EDNS options are for one hop (RFC 6891 section 6.1.1), and other items' matter. A proxy may ask more than once: of
    all that came to the upstream, what is most like the client's exchange counts.
    """
    message = through.client.message
    if message is None or through.client.is_truncated or not _is_usual(through.client.asked):
        return None
    found = [_changes(through.client.asked, message, one) for one in through.forwarded]
    whole = [one for one in found if one is not None]
    return min(whole, key=len, default=None)


def kind_of(through: Through) -> str:
    """Say what the upstream sent last: an answer, a denial or an error; "" if that cannot be read."""
    try:
        sent = None if through.upstream is None else through.upstream.answer
    except (dns.exception.DNSException, ValueError):
        sent = None
    if sent is None:
        return ""
    if sent.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return "error"
    return "answer" if sent.answer else "denial"


def _is_usual(query: dns.message.Message) -> bool:
    """Say whether a query has only what all proxies know, and no forged response: other items are about the rest.

    Without RD, a proxy may answer from its cache alone, or refuse (see P-rd).
    """
    if query.opcode() != dns.opcode.QUERY or len(query.question) != 1 or query.had_tsig or query.flags & Z_BIT:
        return False
    if not query.flags & dns.flags.RD:
        return False
    question = query.question[0]
    if question.rdclass != dns.rdataclass.IN or question.rdtype == RdataType.ANY:
        return False
    # Of a name that several items ask for, it cannot be told which exchange had which query at the upstream.
    if question.name == names.ORIGIN or names.said(question.name)[0] in OF_OTHERS:
        return False
    if question.name.labels[1:2] == (names.living(0).encode(),):
        return False
    # Whether letters stay as they are is P-case's matter.
    if question.name.labels != question.name.canonicalize().labels:
        return False
    return query.edns < 0 or not (query.edns or query.options or query.ednsflags & EDNS_FLAGS_BUT_DO)


def _changes(query: dns.message.Message, message: dns.message.Message, forwarded: Forwarded) -> frozenset[str] | None:
    try:
        asked, sent = forwarded.asked, forwarded.answer
    except (dns.exception.DNSException, ValueError):
        return None
    if sent.flags & dns.flags.TC:
        return None
    # That it has no response is what a proxy says by SERVFAIL: one that was lost on its way accuses nobody.
    if message.rcode() == dns.rcode.SERVFAIL != sent.rcode():
        return None
    return frozenset(
        {f"{OF_QUERIES}{said}" for said in _query_changes(query, asked)}
        | {f"in responses, {said}" for said in _response_changes(query, asked, sent, message)}
    )


def _query_changes(query: dns.message.Message, asked: dns.message.Message) -> Iterable[str]:
    """Compare a query with the one at the upstream; OPT, DO and AD may be added for a client that did without."""
    found = flag_differences(query, asked, HEADER_FLAGS)
    if query.edns >= 0:
        found += edns_differences(query, asked)
    yield from (said for said in found if said not in ADDED)
    if question_differences(query, asked):
        yield "the question is another"


def _response_changes(
    query: dns.message.Message, asked: dns.message.Message, sent: dns.message.Message, message: dns.message.Message
) -> Iterable[str]:
    """Compare what the upstream sent with what the client got, as far as that is for the client."""
    has_do = _has_do(query)
    yield from flag_differences(sent, message, OF_ANSWERS)
    yield from flag_differences(query, message, ("CD",))
    if query.edns < 0:
        yield from ["OPT is added"] if message.edns >= 0 else []
    elif asked.edns >= 0:
        own_do = has_do != _has_do(asked)
        yield from (said for said in edns_differences(sent, message) if not (own_do and said.startswith("DO ")))
    yield from rcode_differences(sent, message)
    if question_differences(sent, message) or spelling(_names(query)) != spelling(_names(message)):
        yield "the question is another, or spelt otherwise"
    given = sent if has_do else without_dnssec(sent)
    for section in SECTIONS:
        yield from _record_changes(section, *_but_shared(section, given, message))
    if raised_ttls(_with_answer_alone(given), message):
        yield "TTLs rise"


def _has_do(query: dns.message.Message) -> bool:
    return query.edns >= 0 and bool(query.ednsflags & dns.flags.DO)


def _names(message: dns.message.Message) -> list[dns.name.Name]:
    return [rrset.name for rrset in message.question]


def _with_answer_alone(message: dns.message.Message) -> dns.message.Message:
    """Give the records that are of this name alone: others a cache may have from another response, and newer."""
    alone = dns.message.Message(message.id)
    alone.answer = message.answer
    return alone


def _but_shared(section: str, sent: dns.message.Message, message: dns.message.Message) -> Sections:
    """Give a section before and after, without the SOA records that both have in denials.

    They differ in TTL and MINIMUM from name to name, and a cache may give that of another response.
    """
    before, after = getattr(sent, section), getattr(message, section)
    if section != "authority":
        return before, after
    shared = {_key(rrset) for rrset in before if RdataType.SOA in {rrset.rdtype, rrset.covers}} & set(map(_key, after))
    return [rrset for rrset in before if _key(rrset) not in shared], [
        rrset for rrset in after if _key(rrset) not in shared
    ]


def _key(rrset: dns.rrset.RRset) -> tuple[dns.name.Name, RdataType, RdataType]:
    return rrset.name, rrset.rdtype, rrset.covers


def _record_changes(section: str, before: list[dns.rrset.RRset], after: list[dns.rrset.RRset]) -> Iterable[str]:
    lost, added = records(before) - records(after), records(after) - records(before)
    missing = {RdataType.to_text(rtype) for _, _, rtype, _ in lost}
    for rtype in sorted(missing):
        yield f"{rtype} records of the {section} section are missing or changed"
    if section == "additional":
        # A cache may add what it knows (RFC 1034 section 4.3.2 step 6).
        return
    for rtype in sorted({RdataType.to_text(rtype) for _, _, rtype, _ in added} - missing):
        yield f"{rtype} records are added to the {section} section"
