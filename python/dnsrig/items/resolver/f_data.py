"""F-data: the records as the zone has them."""

import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.resolver._published import published
from dnsrig.items.resolver._usual import judged
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

LARGE = "F-secure-large"
ITEMS = (
    "F-secure-data",
    LARGE,
    "F-secure-dname",
    "F-secure-nsec",
    "F-secure-nsec3",
    "F-insecure-delegation",
    "F-unknown-type",
)
"""Items of the tree's table whose names have data."""
ITEM = Item(
    id="F-data",
    role="resolver",
    group="Messages",
    requirement="The resolver gives each RRset as the zone has it, whole and with the same data.",
    references=("RFC 2181 section 5",),
    severity=Severity.CRITICAL,
    consequence="Clients are sent to other hosts than the zone's, or to a part of them, and cannot tell.",
    procedure=(
        "Addresses, keys, texts, aliases and names from wildcards, of signed and of unsigned zones, are asked for "
        "with RD, without EDNS, and with DO by TCP. The records of each answer are compared with the zone's, and its "
        "signatures with those that the zone has."
    ),
    dig=(
        "dig @{server} -p {port} www.secure.nsec. A +noedns   # 198.18.2.80",
        "dig @{server} -p {port} large1220.secure.nsec. TXT +dnssec +tcp",
    ),
    needs=("upstream",),
    faults=("gives-wrong-addresses", "gives-part-of-texts", "strips-alias-signatures"),
)
AT_ONCE = 8


def check(subject: ResolverSubject) -> Outcome:
    """Ask for what the tree's table has data for, and compare."""
    rows = [row for item_id in ITEMS for row in subject.rows(item_id) if not row.case.denied]
    with thread_pool(AT_ONCE, "data") as pool:
        exchanges = [exchange for asked in pool.map(lambda row: _asked(subject, row), rows) for exchange in asked]
    # What is not answered, or without the records, is the matter of the items that have the names.
    answered = [one for one in exchanges if one.rcode == dns.rcode.NOERROR and one.message is not None]
    found = [(one, _complaint(subject, one)) for one in answered if one.message is not None and one.message.answer]
    if not found:
        return inconclusive("No name is answered with records.", *exchanges[:1])
    return judged(found, "the data are those of the zones")


def _asked(subject: ResolverSubject, row: TableRow) -> list[Exchange]:
    """Ask by TCP, which cuts nothing, with DO; without EDNS only where that is small."""
    question = Question(row.name, row.case.rtype)
    by_tcp = subject.asker.tcp(question.with_do)
    if by_tcp.message is None:
        by_tcp = subject.asker.ask(question.with_do)
    return [by_tcp] if row.case.item == LARGE else [by_tcp, subject.asker.ask(question.plain)]


def _complaint(subject: ResolverSubject, exchange: Exchange) -> str:
    message = exchange.message
    answer = [] if message is None else message.answer
    complaints = [_about(subject, rrset) for rrset in answer]
    signed = {(one.name, one.covers) for one in answer if one.rdtype == RdataType.RRSIG}
    # Whether there are signatures at all is the matter of F-do.
    complaints += [_unsigned(subject, rrset, signed) for rrset in answer if signed]
    return next((said for said in complaints if said), "")


def _unsigned(subject: ResolverSubject, rrset: dns.rrset.RRset, signed: set[tuple[dns.name.Name, RdataType]]) -> str:
    """Say, as a clause, that an RRset lacks the signature that the zone has, beside others that have theirs."""
    rtype = RdataType.make(rrset.rdtype)
    if rtype == RdataType.RRSIG or (rrset.name, rtype) in signed:
        return ""
    if published(subject, rrset.name, RdataType.RRSIG, rtype) is None:
        return ""
    return f"{rrset.name} {rtype.name} has no signature, which the zone has"


def _about(subject: ResolverSubject, rrset: dns.rrset.RRset) -> str:
    rtype, covers = RdataType.make(rrset.rdtype), RdataType.make(rrset.covers)
    title = f"{rrset.name} {rtype.name}"
    there = published(subject, rrset.name, rtype, covers)
    if there is None:
        return f"{title}, which the zone has not"
    given, right = set(rrset), set(there)
    if given - right:
        return f"{title} has {_shortened(str(min(given - right)))}, which the zone has not"
    # Of several signatures one is enough.
    missing = right - given if rtype != RdataType.RRSIG else set()
    if missing:
        return f"{title} has {len(given)} of the zone's {len(right)} records"
    return ""


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
