"""Faults of resolvers: what one that does not validate, or not all, answers, with a right resolver behind the relay."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable

import dns.flags
import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.messages import OLD_LIMIT
from dnsrig.verification.tree.cases import BOGUS, Status, TableRow
from dnsrig.verification.tree.plan import PLANS

Question = tuple[dns.name.Name, RdataType]
STALL_S = 1.0
"""The items ask for several names at once, so that a stall takes some seconds."""
DNSSEC_TYPES = {RdataType.DNSKEY, RdataType.DS, RdataType.NSEC, RdataType.NSEC3PARAM, RdataType.RRSIG}
BURDENS = {"F-keytrap", "F-nsec3-cost", "F-nsec3-work"}
"""Items that are not about what is answered."""


def _question(message: dns.message.Message) -> Question | None:
    return (message.question[0].name, message.question[0].rdtype) if message.question else None


def _with_flags(message: dns.message.Message, *, on: int = 0, off: int = 0) -> bytes:
    message.flags = dns.flags.Flag((message.flags & ~off) | on)
    return wire_of(message)


def _asked_flag(passage: Passage, flag: int) -> int:
    return int(passage.asked.flags) & flag


def _check_nothing(passage: Passage) -> bytes:
    return _with_flags(passage.asked, on=dns.flags.CD)


def _as_if_without_cd(passage: Passage) -> bytes:
    cd = _asked_flag(passage, dns.flags.CD)
    return _with_flags(passage.answer, off=dns.flags.AD | (dns.flags.CD & ~cd))


def _clear_ad(passage: Passage) -> bytes:
    return _with_flags(passage.answer, off=dns.flags.AD)


def _set_ad(passage: Passage) -> bytes:
    answer = passage.answer
    if answer.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return passage.response
    return _with_flags(answer, on=dns.flags.AD)


def _ask_with_ad(passage: Passage) -> bytes:
    return _with_flags(passage.asked, on=dns.flags.AD)


def _ask_without_ad(passage: Passage) -> bytes:
    return _with_flags(passage.asked, off=dns.flags.AD)


def _ask_without_cd(passage: Passage) -> bytes:
    return _with_flags(passage.asked, off=dns.flags.CD)


def _cd_as_asked(passage: Passage) -> bytes:
    return _with_flags(passage.answer, on=_asked_flag(passage, dns.flags.CD))


def _clear_cd(passage: Passage) -> bytes:
    return _with_flags(passage.answer, off=dns.flags.CD)


def _ask_with_do(passage: Passage) -> bytes:
    query = passage.asked
    # Without EDNS clients take 512 octets.
    payload = query.payload if query.edns >= 0 else OLD_LIMIT
    query.use_edns(max(query.edns, 0), dns.flags.DO, payload, options=list(query.options))
    return wire_of(query)


def _keep_records(passage: Passage) -> bytes:
    """Hide that DO was asked for, but for the records."""
    asked, answer = passage.asked, passage.answer
    if asked.edns < 0:
        answer.use_edns(False)
    elif not asked.ednsflags & dns.flags.DO:
        # The upper bits of the response code stand there too.
        answer.ednsflags &= ~int(dns.flags.DO)
    wants_ad = asked.flags & dns.flags.AD or (asked.edns >= 0 and asked.ednsflags & dns.flags.DO)
    return _with_flags(answer, off=0 if wants_ad else dns.flags.AD)


class _LeakingCache:
    """Remembers what came for queries with CD, and then takes it for validated."""

    def __init__(self, *, denials_only: bool = False) -> None:
        self._leaked: set[Question] = set()
        self._denials_only = denials_only

    def on_query(self, passage: Passage) -> bytes:
        return _check_nothing(passage) if _question(passage.asked) in self._leaked else passage.query

    def on_response(self, passage: Passage) -> bytes:
        answer, question = passage.answer, _question(passage.asked)
        cd = _asked_flag(passage, dns.flags.CD)
        if question is not None and cd and not (self._denials_only and answer.answer):
            self._leaked.add(question)
        return _with_flags(answer, off=dns.flags.CD & ~cd)


def _keep_denials(passage: Passage) -> bytes:
    """As `_keep_records`, but for the signatures."""
    answer = dns.message.from_wire(_keep_records(passage))
    if not _asked_do(passage):
        for section in (answer.answer, answer.authority):
            section[:] = [rrset for rrset in section if rrset.rdtype != RdataType.RRSIG]
    return wire_of(answer)


def _strip_asked_types(passage: Passage) -> bytes:
    answer = passage.answer
    if not _asked_do(passage):
        answer.answer = [rrset for rrset in answer.answer if rrset.rdtype not in DNSSEC_TYPES]
    return wire_of(answer)


def _asked_do(passage: Passage) -> bool:
    asked = passage.asked
    return asked.edns >= 0 and bool(asked.ednsflags & dns.flags.DO)


def _only(questions: Iterable[Question], change: Callable[[Passage], bytes]) -> Change:
    """Change only what is about these questions."""
    chosen = frozenset(questions)
    return unchanged_if_unreadable(
        lambda passage: change(passage) if _question(passage.asked) in chosen else passage.response or passage.query
    )


def _below(suffix: str, change: Callable[[Passage], bytes]) -> Change:
    name = dns.name.from_text(suffix)

    def changed(passage: Passage) -> bytes:
        question = _question(passage.asked)
        fits = question is not None and question[0].is_subdomain(name)
        return change(passage) if fits else passage.response or passage.query

    return unchanged_if_unreadable(changed)


def _fail(passage: Passage) -> bytes:
    refusal = dns.message.make_response(passage.asked, recursion_available=True)
    refusal.set_rcode(dns.rcode.SERVFAIL)
    return wire_of(refusal)


def _stall(passage: Passage) -> bytes:
    """Keep the whole relay waiting, as one thread that hashes and verifies does."""
    time.sleep(STALL_S)
    return passage.query


def _table_faults() -> Iterable[Fault]:
    """Give for each item of the table the resolver that takes its bogus names for good, or its good names for bogus."""
    rows: dict[str, list[TableRow]] = defaultdict(list)
    for plan in PLANS:
        for case in plan.cases:
            if case.item and case.item not in BURDENS:
                rows[case.item].append(TableRow(plan, case))
    for item_id, found in rows.items():
        word = item_id.removeprefix("F-")
        bogus = [(row.name, row.case.rtype) for row in found if row.case.right == BOGUS]
        good = [(row.name, row.case.rtype) for row in found if Status.BOGUS not in row.case.right]
        if bogus:
            yield Fault(
                name=f"accepts-{word}",
                does=f"takes for good what {item_id} asks for",
                roles=("resolver",),
                on_query=_only(bogus, _check_nothing),
                on_response=_only(bogus, _as_if_without_cd),
            )
        if good:
            yield Fault(
                name=f"fails-{word}",
                does=f"answers what {item_id} asks for with SERVFAIL",
                roles=("resolver",),
                on_response=_only(good, _fail),
            )


def resolver_faults() -> tuple[Fault, ...]:
    """Give the faults, with fresh memories where they have any."""
    leaking, leaking_denials = _LeakingCache(), _LeakingCache(denials_only=True)
    plain: tuple[tuple[str, str, Change | None, Change | None], ...] = (
        ("does-not-validate", "does not validate", _check_nothing, _as_if_without_cd),
        ("never-sets-ad", "never sets AD", None, _clear_ad),
        ("sets-ad-always", "sets AD whatever it found", None, _set_ad),
        ("sets-ad-unasked", "sets AD also where neither AD nor DO was asked for", _ask_with_ad, None),
        ("ignores-ad-flag", "sets AD only for queries with DO", _ask_without_ad, None),
        ("ignores-cd", "treats queries with CD as if they had none", _ask_without_cd, _cd_as_asked),
        ("clears-cd", "clears CD in responses", None, _clear_cd),
        (
            "leaks-bogus-after-cd",
            "gives data that were fetched with CD to all",
            leaking.on_query,
            leaking.on_response,
        ),
        (
            "leaks-denials-after-cd",
            "gives denials that were fetched with CD to all",
            leaking_denials.on_query,
            leaking_denials.on_response,
        ),
        ("keeps-rrsig-without-do", "gives DNSSEC records without DO", _ask_with_do, _keep_records),
        ("keeps-nsec-without-do", "gives NSEC and NSEC3 records without DO", _ask_with_do, _keep_denials),
        (
            "strips-asked-types",
            "leaves records of DNSSEC types out without DO also where their type is asked for",
            None,
            _strip_asked_types,
        ),
    )
    made = [
        Fault(
            name=name,
            does=does,
            roles=("resolver",),
            on_query=unchanged_if_unreadable(on_query) if on_query else None,
            on_response=unchanged_if_unreadable(on_response) if on_response else None,
        )
        for name, does, on_query, on_response in plain
    ]
    made += [
        Fault(
            name="validates-any-iterations",
            does="validates NSEC3 proofs with any number of iterations",
            roles=("resolver",),
            on_response=_below("iterations-2500.nsec3.", _set_ad),
        ),
        Fault(
            name="stalls-on-keytrap",
            does="serves nobody while it verifies signatures by many keys of one tag",
            roles=("resolver",),
            seen_in="CVE-2023-50387",
            on_query=_below("keytrap.nsec.", _stall),
        ),
        Fault(
            name="stalls-on-nsec3",
            does="serves nobody while it hashes names of many labels",
            roles=("resolver",),
            seen_in="CVE-2023-50868",
            on_query=_below("deep.nsec3.", _stall),
        ),
    ]
    return (*made, *_table_faults())


FAULTS = resolver_faults()
