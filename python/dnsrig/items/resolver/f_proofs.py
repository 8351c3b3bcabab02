"""F-proofs: whole proofs for those who validate themselves."""

from collections.abc import Sequence

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY

from dnsrig.items.resolver._table import RCODES
from dnsrig.items.resolver._usual import judged
from dnsrig.verification.denial import DenialRecords, Proof, denial_records
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import expanded_from, signature_trouble, signed_rrsets
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

ITEMS = ("F-secure-nsec", "F-secure-nsec3")
PROVING = {RdataType.SOA, RdataType.NSEC, RdataType.NSEC3}
ITEM = Item(
    id="F-proofs",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="Responses to queries with DO prove what they deny, and that names from wildcards are such.",
    references=("RFC 4035 section 3.2.1", "RFC 4035 section 3.1.3", "RFC 5155 section 7.2"),
    severity=Severity.ERROR,
    consequence=(
        "Validators behind it, in stubs, applications and forwarders, find missing names, missing types and names "
        "from wildcards bogus."
    ),
    procedure=(
        "Missing names, missing types, an empty non-terminal and names from a wildcard, of a zone with NSEC and of "
        "one with NSEC3, are asked for with RD and DO by TCP. The NSEC or NSEC3 records of each response prove what "
        "it says; they and the SOA record are signed, and the signatures verify by the zone's keys."
    ),
    dig=(
        "dig @{server} -p {port} any.wild.secure.nsec. A +dnssec +tcp",
        "dig @{server} -p {port} www.secure.nsec3. MX +dnssec +tcp",
    ),
    needs=("validates",),
    faults=("strips-wildcard-proofs", "strips-type-proofs", "strips-nsec3", "strips-soa-signature"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Judge the authority sections of the names of the table that take a proof."""
    asked = [(row, _asked(subject, row)) for item_id in ITEMS for row in subject.rows(item_id)]
    # Other response codes are the matter of the items that have the names.
    right = [(row, one) for row, one in asked if one.message is not None and one.rcode == RCODES[row.case.denied]]
    if not right:
        return inconclusive("No name that takes a proof is answered as it should be.", *(one for _, one in asked[:1]))
    keys = {origin: _keys_of(subject, origin) for origin in {row.zone.origin for row, _ in right}}
    found = [(one, _unproven(row, one) or _unsigned(one, keys[row.zone.origin])) for row, one in right]
    return judged(found, "each proves what it says")


def _asked(subject: ResolverSubject, row: TableRow) -> Exchange:
    query = Question(row.name, row.case.rtype).with_do
    exchange = subject.asker.tcp(query)
    return subject.asker.ask(query) if exchange.message is None else exchange


def _keys_of(subject: ResolverSubject, origin: dns.name.Name) -> Sequence[DNSKEY]:
    message = subject.asker.ask(Question(origin, RdataType.DNSKEY).with_do).message
    return [] if message is None else [key for rrset in message.answer for key in rrset if isinstance(key, DNSKEY)]


def _unproven(row: TableRow, exchange: Exchange) -> str:
    """Say, as a clause, what is not proven; "" if all is."""
    message = exchange.message
    if message is None:
        return ""
    encloser = None
    if not row.case.denied:
        answers = [one for one in signed_rrsets(message, ("answer",)) if one.rrset.name == row.name]
        encloser = next((above for above in map(expanded_from, answers) if above is not None), None)
        if encloser is None:
            return ""
    records = denial_records(message.authority, row.zone.origin)
    if records is None:
        return f"the response ({row.case.what}) has no NSEC or NSEC3 records"
    proof = _judge(records, row, encloser)
    return "" if proof else f"the response ({row.case.what}) proves nothing: {proof.problem}"


def _judge(records: DenialRecords, row: TableRow, encloser: dns.name.Name | None) -> Proof:
    if encloser is not None:
        return records.wildcard_answer(row.name, encloser)
    if row.case.denied == "name":
        return records.no_name(row.name)
    return records.no_data(row.name, row.case.rtype) or records.wildcard_no_data(row.name, row.case.rtype)


def _unsigned(exchange: Exchange, keys: Sequence[DNSKEY]) -> str:
    """Say, as a clause, which record of the proof has no signature that verifies; "" if all have."""
    if exchange.message is None:
        return ""
    for one in signed_rrsets(exchange.message, ("authority",)):
        if one.rrset.rdtype not in PROVING:
            continue
        if not one.signatures:
            return f"{one.title} of the authority section has no signature"
        troubles = [signature_trouble(one.rrset, signature, keys) for signature in one.signatures]
        if all(troubles):
            return f"the signature of {one.title} in the authority section is not valid: {troubles[0]}"
    return ""
