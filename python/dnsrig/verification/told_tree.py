"""What is known of a tree of the user's: its trust anchor, names that are given, and what can be found by asking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import dns.dnssec
import dns.exception
import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY

from dnsrig.errors import InputError
from dnsrig.servers.interruption import raise_interruption
from dnsrig.servers.resolvers.anchors import Anchor, by_zone
from dnsrig.verification.anchor_files import read_anchor_file
from dnsrig.verification.asker import Asker, random_label
from dnsrig.verification.denial import has_opt_out
from dnsrig.verification.given_names import name_of
from dnsrig.verification.landmarks import UNUSED_TYPE
from dnsrig.verification.subjects.known_names import KnownNames, Question
from dnsrig.verification.told_checks import refuse_unresolved, refuse_wrong_names
from dnsrig.verification.tree.cases import BOGUS, INSECURE, SECURE, SECURE_OR_INSECURE, Case, TableRow, ZonePlan

SIZES = (512, 1220, 4000)
PAYLOAD = 4096


@dataclass(frozen=True, slots=True)
class ToldTree:
    """What the user says of the tree that a resolver resolves from."""

    path: Path
    """Where the trust anchors are from."""
    anchors: tuple[Anchor, ...]
    secure: tuple[Question, ...] = ()
    """Names that validate, besides the zone of the trust anchor."""
    unsigned: tuple[Question, ...] = ()
    bogus: tuple[Question, ...] = ()

    @classmethod
    def read(cls, path: Path, secure: Iterable[str], unsigned: Iterable[str], bogus: Iterable[str]) -> "ToldTree":
        """Read the trust anchors of a file, and questions such as `www.example.com` or `example.com/MX`.

        Raises:
            InputError: the file has none; a name or type that is none.

        """
        given = (secure, unsigned, bogus)
        options = ("--secure", "--insecure", "--bogus")
        found = [tuple(_question(text, option) for text in texts) for texts, option in zip(given, options, strict=True)]
        return cls(path, read_anchor_file(path), *found)


def _question(text: str, option: str) -> Question:
    name, _, rtype = text.partition("/")
    wrong = f"{option} {text}: no name with a type, such as www.example.com or example.com/MX"
    if not name:
        raise InputError(wrong)
    try:
        return Question(name_of(name), RdataType.from_text(rtype or "A"))
    except InputError as error:
        raise InputError(f"{wrong}: {error}") from error
    except (dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        raise InputError(wrong) from error


def find_names(asker: Asker, told: ToldTree) -> KnownNames:
    """Ask the resolver for what the items need to know of the tree.

    Raises:
        InputError: the resolver gives keys for the zone of the trust anchors, and none of these is among them; a name
            that the user named is not there, or is not what it was given as.
        SubjectFailedError: the resolver answers the keys of the first trust anchor's zone with SERVFAIL.

    """
    zones = {dns.name.from_text(zone): anchors for zone, anchors in by_zone(told.anchors).items()}
    # The others are judged by items; on the first all rests.
    refuse_unresolved(asker, next(iter(zones)))
    apexes = [_Apex.asked(asker, zone) for zone in zones]
    for apex in apexes:
        _refuse_other_anchor(told.path, apex, zones[apex.zone])
    refuse_wrong_names(
        asker, list(zones), (("--secure", told.secure), ("--insecure", told.unsigned), ("--bogus", told.bogus))
    )
    first = apexes[0]
    keys = [Question(apex.zone, RdataType.DNSKEY) for apex in apexes]
    return KnownNames(
        zone=first.zone,
        secure=told.secure[0] if told.secure else Question(first.zone, RdataType.SOA),
        denied=(first.denied,),
        typed=(*keys, *first.chain_questions),
        unsigned=told.unsigned[0] if told.unsigned else None,
        bogus=told.bogus,
        large=_large(asker, (*told.secure, *keys)),
        rows=tuple(_rows(told, apexes)),
    )


@dataclass(frozen=True, slots=True)
class _Apex:
    """A zone with a trust anchor."""

    zone: dns.name.Name
    keys: tuple[DNSKEY, ...]
    denied: Question
    """A name that does not exist, or a type that the apex has not where each name exists."""
    chain: RdataType | None
    """What its denials are proven by; None: no proof came."""
    has_opt_out: bool

    @classmethod
    def asked(cls, asker: Asker, zone: dns.name.Name) -> "_Apex":
        """Ask with CD: what the resolver finds bogus is for the items."""
        message = _asked(asker, Question(zone, RdataType.DNSKEY))
        keys = () if message is None else tuple(key for rrset in message.answer for key in rrset if _is_key(key))
        denied = Question(dns.name.Name((random_label().encode(), *zone.labels)), RdataType.A)
        message = _asked(asker, denied)
        if message is not None and message.rcode() == dns.rcode.NOERROR and message.answer:
            denied = Question(zone, UNUSED_TYPE)
            message = _asked(asker, denied)
        proofs = [] if message is None else [one for one in message.authority if one.rdtype in _CHAIN_ITEMS]
        return cls(zone, keys, denied, proofs[0].rdtype if proofs else None, has_opt_out(proofs))

    @property
    def chain_questions(self) -> Sequence[Question]:
        """Give the RRset of the chain that the apex has."""
        types = {RdataType.NSEC: RdataType.NSEC, RdataType.NSEC3: RdataType.NSEC3PARAM}
        return [Question(self.zone, types[self.chain])] if self.chain is not None else []


_CHAIN_ITEMS = {RdataType.NSEC: "F-secure-nsec", RdataType.NSEC3: "F-secure-nsec3"}


def _is_key(rdata: object) -> bool:
    return isinstance(rdata, DNSKEY)


def _asked(asker: Asker, question: Question) -> dns.message.Message | None:
    return asker.ask(replace(question.with_do, cd=True)).message


def _refuse_other_anchor(path: Path, apex: _Apex, anchors: Sequence[Anchor]) -> None:
    if not apex.keys or any(_is_of(anchor, key) for anchor in anchors for key in apex.keys):
        return
    wanted = ", ".join(str(_tag(anchor)) for anchor in anchors)
    given = ", ".join(str(dns.dnssec.key_id(key)) for key in apex.keys)
    raise InputError(
        f"--trust-anchor {path}: its keys of {apex.zone} (key tag {wanted}) are not among those that the resolver "
        f"gives ({given}): is it the trust anchor of the tree that the resolver resolves from?"
    )


def _is_of(anchor: Anchor, key: DNSKEY) -> bool:
    """Say whether a trust anchor is for a key, whatever the key's flags are: it may have been revoked."""
    if isinstance(anchor.rdata, DNSKEY):
        return bytes(anchor.rdata.key) == bytes(key.key) and int(anchor.rdata.algorithm) == int(key.algorithm)
    try:
        made = dns.dnssec.make_ds(anchor.owner, key, anchor.rdata.digest_type, policy=dns.dnssec.allow_all_policy)
    except (dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        # Of a digest that is not known here nothing can be told.
        return int(anchor.rdata.key_tag) == int(dns.dnssec.key_id(key))
    return bool(made.digest == anchor.rdata.digest)


def _tag(anchor: Anchor) -> int:
    return int(dns.dnssec.key_id(anchor.rdata) if isinstance(anchor.rdata, DNSKEY) else anchor.rdata.key_tag)


def _large(asker: Asker, questions: Iterable[Question]) -> dict[int, Question]:
    """Find for each size the smallest response that is longer."""
    found = []
    for question in dict.fromkeys(questions):
        exchange = asker.tcp(replace(question.with_do, payload=PAYLOAD))
        if exchange.rcode == dns.rcode.NOERROR:
            found.append((exchange.octets, question))
    found.sort(key=lambda one: one[0])
    longer = {size: [question for octets, question in found if octets > size] for size in SIZES}
    return {size: questions[0] for size, questions in longer.items() if questions}


def _rows(told: ToldTree, apexes: Iterable[_Apex]) -> Iterable[TableRow]:
    """Give the questions of the items about validation."""
    for apex in apexes:
        plan = ZonePlan(name=apex.zone.to_text(), what="the zone of the trust anchor")
        for rtype in (RdataType.SOA, RdataType.NS, RdataType.DNSKEY):
            what = f"{rtype.name} of the trust anchor's zone"
            yield TableRow(plan, Case(name="@", rtype=rtype, what=what, item="F-secure-data"))
        yield TableRow(
            plan,
            Case(name="@", rtype=UNUSED_TYPE, denied="type", what="a type that is not there", item="F-unknown-type"),
        )
        if apex.chain is not None:
            yield _denial_row(plan, apex, _CHAIN_ITEMS[apex.chain])
    for questions, right, item in (
        (told.secure, SECURE, "F-secure-data"),
        (told.unsigned, INSECURE, "F-insecure-delegation"),
        (told.bogus, BOGUS, "F-bogus"),
    ):
        for one in questions:
            case = Case(name=one.name.to_text(), rtype=one.rtype, right=right, what=f"given as {right[0]}", item=item)
            yield TableRow(ZonePlan(name=one.name.to_text(), what="given by name"), case)


def _denial_row(plan: ZonePlan, apex: _Apex, item: str) -> TableRow:
    # RFC 5155 section 9.2: in a span with opt-out a missing name is not secure.
    is_name = apex.denied.rtype == RdataType.A
    right = SECURE_OR_INSECURE if apex.has_opt_out and is_name else SECURE
    case = Case(
        name=apex.denied.name.to_text(),
        rtype=apex.denied.rtype,
        right=right,
        denied="name" if is_name else "type",
        what="a name that does not exist" if is_name else "a type that is not there",
        item=item,
    )
    return TableRow(plan, case)
