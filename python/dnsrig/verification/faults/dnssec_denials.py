"""Faults in denials of existence: NSEC and NSEC3 records that are missing."""

from collections.abc import Callable

import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.denial import (
    DenialRecords,
    Nsec3Records,
    NsecRecords,
    ancestors,
    denial_records,
    hash_of_owner,
    is_between,
    next_closer,
    wildcard_of,
)
from dnsrig.verification.faults.changes import changing, is_denial, is_referral, of_type
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, DENIALS, asks_for, has_do, is_signature_of
from dnsrig.verification.faults.fault import Fault

Meant = Callable[[dns.message.Message], bool]


def without_denial(message: dns.message.Message, *owners: dns.name.Name) -> None:
    """Leave NSEC and NSEC3 records out, all unless owners are given, with their signatures."""
    message.authority[:] = [
        rrset
        for rrset in message.authority
        if not (rrset.rdtype in DENIALS or is_signature_of(rrset, *DENIALS)) or (owners and rrset.name not in owners)
    ]


def _stripping(is_meant: Meant) -> Callable[[dns.message.Message], None]:
    def change(answer: dns.message.Message) -> None:
        if is_meant(answer):
            without_denial(answer)

    return change


def _is_nxdomain(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.NXDOMAIN


def _is_nodata(answer: dns.message.Message) -> bool:
    return answer.rcode() == dns.rcode.NOERROR and is_denial(answer)


def _is_nodata_of_mail(answer: dns.message.Message) -> bool:
    return _is_nodata(answer) and asks_for(answer, RdataType.MX)


def _has_answer(answer: dns.message.Message) -> bool:
    return bool(answer.answer)


def _is_about_ds(answer: dns.message.Message) -> bool:
    return is_referral(answer) or (asks_for(answer, RdataType.DS) and is_denial(answer))


def origin_of(answer: dns.message.Message) -> dns.name.Name:
    """Give the zone that a denial is of: the owner of its SOA record."""
    soas = of_type(answer.authority, RdataType.SOA)
    return soas[0].name if soas else dns.name.root


def _owners(
    answer: dns.message.Message, records: DenialRecords, name: dns.name.Name, *, covers: bool
) -> list[dns.name.Name]:
    """Find the owners of the records that match or cover a name."""
    found = []
    for rrset in of_type(answer.authority, *DENIALS):
        record = rrset[0]
        if isinstance(records, Nsec3Records):
            owner, hashed = hash_of_owner(rrset.name), records.hash(name)
            is_it = owner is not None and (is_between(owner, record.next, hashed) if covers else owner == hashed)
        else:
            is_it = is_between(rrset.name, record.next, name) if covers else rrset.name == name
        found += [rrset.name] if is_it else []
    return found


def _denied(answer: dns.message.Message) -> tuple[DenialRecords, dns.name.Name, dns.name.Name] | None:
    """Give the records, the name and its closest encloser if a response says that a name does not exist as such."""
    if not is_denial(answer) or not answer.question or asks_for(answer, RdataType.DS):
        return None
    name, origin = answer.question[0].name, origin_of(answer)
    records = denial_records(answer.authority, origin)
    if records is None or records.types_at(name) is not None:
        return None
    if isinstance(records, NsecRecords):
        found = records.covering(name)
        if found is None or found[1].next.is_subdomain(name):
            return None
        ends = (found[0], found[1].next)
        above = (one for one in ancestors(name, origin) if any(end.is_subdomain(one) for end in ends))
        return records, name, next(above, origin)
    above = (one for one in ancestors(name, origin) if records.types_at(one) is not None)
    return records, name, next(above, origin)


def _drop_next_closer(answer: dns.message.Message) -> None:
    found = _denied(answer)
    if found is not None:
        records, name, encloser = found
        closer = next_closer(name, encloser) if isinstance(records, Nsec3Records) else name
        owners = _owners(answer, records, closer, covers=True)
        if owners:
            without_denial(answer, *owners)


def drop_wildcard_cover(answer: dns.message.Message) -> None:
    """Leave out what covers the wildcard at the closest encloser of a name that does not exist."""
    found = _denied(answer)
    if found is not None and _is_nxdomain(answer):
        owners = _owners(answer, found[0], wildcard_of(found[2]), covers=True)
        if owners:
            without_denial(answer, *owners)


def _drop_wildcard_match(answer: dns.message.Message) -> None:
    found = _denied(answer)
    if found is not None and not _is_nxdomain(answer):
        owners = _owners(answer, found[0], wildcard_of(found[2]), covers=False)
        if owners:
            without_denial(answer, *owners)


def drop_encloser(answer: dns.message.Message) -> None:
    """Leave out the NSEC3 record that matches the closest encloser of a name that does not exist."""
    found = _denied(answer)
    if found is not None and isinstance(found[0], Nsec3Records):
        owners = _owners(answer, found[0], found[2], covers=False)
        if owners:
            without_denial(answer, *owners)


def _is_empty(answer: dns.message.Message) -> bool:
    """Whether a response says that a name is an empty non-terminal."""
    if not _is_nodata(answer) or not answer.question:
        return False
    name = answer.question[0].name
    records = denial_records(answer.authority, origin_of(answer))
    if isinstance(records, NsecRecords):
        found = records.covering(name)
        return records.types_at(name) is None and found is not None and found[1].next.is_subdomain(name)
    return records is not None and records.types_at(name) == frozenset()


def _deny_empty(answer: dns.message.Message) -> None:
    if _is_empty(answer):
        answer.set_rcode(dns.rcode.NXDOMAIN)


def _hide_parameters(answer: dns.message.Message) -> None:
    if asks_for(answer, RdataType.NSEC3PARAM):
        answer.answer.clear()


def _change_parameters(answer: dns.message.Message) -> None:
    for rrset in of_type(answer.answer, RdataType.NSEC3PARAM):
        (record,) = rrset
        rrset.items.clear()
        rrset.add(record.replace(salt=b"\xaa\xbb"), rrset.ttl)


def _lacking(name: str, does: str, change: Callable[[dns.message.Message], None], *needs: str) -> Fault:
    return Fault(
        name=name, does=does, roles=AUTHORITATIVE, needs=needs or ("signed",), on_response=changing(change, has_do)
    )


FAULTS = (
    _lacking(
        "strips-denial", "leaves NSEC and NSEC3 records out of responses", _stripping(lambda _: True), "signatures"
    ),
    _lacking("strips-nxdomain-denial", "does not prove that names do not exist", _stripping(_is_nxdomain)),
    _lacking("strips-nodata-denial", "does not prove that types do not exist", _stripping(_is_nodata)),
    _lacking("strips-mail-denial", "does not prove that names have no MX records", _stripping(_is_nodata_of_mail)),
    _lacking(
        "strips-wildcard-denial",
        "does not prove that a name does not exist for which it uses a wildcard",
        _stripping(_has_answer),
    ),
    _lacking(
        "lacks-next-closer-denial",
        "leaves out the record that covers the name, or the next closer name",
        _drop_next_closer,
    ),
    _lacking("lacks-wildcard-denial", "leaves out the record that covers the wildcard", drop_wildcard_cover),
    _lacking("lacks-wildcard-match", "leaves out the record that matches the wildcard", _drop_wildcard_match),
    _lacking(
        "lacks-closest-encloser",
        "leaves out the NSEC3 record that matches the closest encloser",
        drop_encloser,
        "nsec3",
    ),
    _lacking("lacks-empty-match", "does not prove that empty non-terminals exist", _stripping(_is_empty)),
    _lacking("lacks-ds-denial", "does not prove that delegations are insecure", _stripping(_is_about_ds)),
    _lacking("nxdomain-for-empty-with-do", "says that empty non-terminals do not exist, if DO is set", _deny_empty),
    _lacking("hides-nsec3param", "does not answer queries for NSEC3PARAM", _hide_parameters, "nsec3"),
    _lacking("wrong-nsec3param", "gives an NSEC3PARAM record with another salt", _change_parameters, "nsec3"),
)
