"""Zones in which proofs of denial are missing."""

from dataclasses import replace

import dns.dnssec
import dns.name
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.tree.cases import BOGUS, BOGUS_OR_INSECURE, Case, ZonePlan
from dnsrig.verification.tree.edits import CHAIN_TYPES, ZoneEdit
from dnsrig.verification.tree.zones_good import USUAL


def _remove_chain(edit: ZoneEdit) -> None:
    edit.remove_chain()


def _unsign_chain(edit: ZoneEdit) -> None:
    for rtype in CHAIN_TYPES:
        for name in edit.owners(rtype):
            edit.remove_signatures(name, rtype)


def _spoil_chain(edit: ZoneEdit) -> None:
    for rtype in CHAIN_TYPES:
        for name in edit.owners(rtype):
            edit.spoil_signatures(name, rtype)


def _strip_ds(edit: ZoneEdit, name: dns.name.Name) -> None:
    """Take the DS records away; the NSEC or NSEC3 record still says that there are some."""
    edit.remove_with_signatures(name, RdataType.DS)


def _strip_ds_signatures(edit: ZoneEdit, name: dns.name.Name) -> None:
    edit.remove_signatures(name, RdataType.DS)


def _spoil_ds(edit: ZoneEdit, name: dns.name.Name) -> None:
    edit.spoil_signatures(name, RdataType.DS)


def _expire_ds(edit: ZoneEdit, name: dns.name.Name) -> None:
    edit.sign(name, RdataType.DS, times_s=_past_s(edit))


def _past_s(edit: ZoneEdit) -> tuple[int, int]:
    """Give times of signatures that have expired."""
    now_s = edit.times_s[0] + 3600
    return now_s - 9 * DAY_S, now_s - 2 * DAY_S


def _expire_chain(edit: ZoneEdit) -> None:
    for rtype in CHAIN_TYPES:
        for name in edit.owners(rtype):
            edit.sign(name, rtype, times_s=_past_s(edit))


def _spoil_ds_denial(edit: ZoneEdit, name: dns.name.Name) -> None:
    """Spoil the signature of the record that proves that there are no DS records."""
    rtype = CHAIN_TYPES[0] if edit.owners(RdataType.NSEC) else CHAIN_TYPES[1]
    edit.spoil_signatures(name if rtype == RdataType.NSEC else _hashed(edit, name), rtype)


def _hashed(edit: ZoneEdit, name: dns.name.Name) -> dns.name.Name:
    """Give the owner of a name's NSEC3 record."""
    parameters = edit.rrset(edit.origin, RdataType.NSEC3PARAM)[0]
    return dns.name.from_text(dns.dnssec.nsec3_hash(name, parameters.salt, parameters.iterations, 1), edit.origin)


def _hide_delegation(edit: ZoneEdit, name: dns.name.Name) -> None:
    """Take the record away that proves that there are no DS records: another, without opt-out, spans the name then."""
    rtype = CHAIN_TYPES[0] if edit.owners(RdataType.NSEC) else CHAIN_TYPES[1]
    if rtype == RdataType.NSEC:
        edit.remove_with_signatures(name, rtype)
        return
    edit.remove_with_signatures(_hashed(edit, name), rtype)


def _clear_ns_bit(edit: ZoneEdit, name: dns.name.Name) -> None:
    """Let the NSEC3 record that proves that there are no DS records say that there is no delegation either."""
    owner = _hashed(edit, name)
    rrset = edit.rrset(owner, RdataType.NSEC3)
    words = str(rrset[0]).split()
    edit.put(owner, RdataType.NSEC3, [" ".join(word if word != "NS" else "TXT" for word in words)], rrset.ttl)
    edit.sign(owner, RdataType.NSEC3)


def _unknown_hash(edit: ZoneEdit) -> None:
    """Let all NSEC3 records name a hash algorithm that nobody knows, and sign them anew."""
    for name in edit.owners(RdataType.NSEC3):
        rrset = edit.rrset(name, RdataType.NSEC3)
        _, rest = str(rrset[0]).split(maxsplit=1)
        edit.put(name, RdataType.NSEC3, [f"200 {rest}"], rrset.ttl)
        edit.sign(name, RdataType.NSEC3)


def _denials(proofs: str, item: str) -> tuple[Case, ...]:
    return (
        Case(name="absent", right=BOGUS, denied="name", what=f"a missing name, {proofs}", item=f"{item}-name"),
        Case(
            name="www",
            rtype=RdataType.MX,
            right=BOGUS,
            denied="type",
            what=f"a missing type, {proofs}",
            item=f"{item}-type",
        ),
        Case(name="any.wild", right=BOGUS, what=f"a name made from a wildcard, {proofs}", item=f"{item}-wildcard"),
        Case(
            name="any.wildalias",
            right=BOGUS,
            what=f"an alias made from a wildcard, {proofs}",
            item=f"{item}-wildcard",
        ),
        Case(
            name="a.b.wild",
            right=BOGUS,
            what=f"a name made from a wildcard two labels above it, {proofs}",
            item=f"{item}-wildcard",
        ),
        Case(
            name="empty",
            right=BOGUS,
            denied="type",
            what=f"an empty non-terminal, {proofs}",
            item=f"{item}-type",
        ),
        Case(
            name="any.wild",
            rtype=RdataType.MX,
            right=BOGUS,
            denied="type",
            what=f"a type that the wildcard has not, {proofs}",
            item=f"{item}-type",
        ),
    )


def _expired(proofs: str) -> tuple[Case, ...]:
    return tuple(replace(case, item="F-expired") for case in _denials(proofs, "F-expired"))


def _plans(chain: str) -> tuple[ZonePlan, ...]:
    records = chain.upper()
    kind = {"chain": chain, "records": USUAL}
    return (
        ZonePlan(
            name=f"no-proofs.{chain}.",
            what=f"without {records} records",
            edit=_remove_chain,
            cases=_denials(f"without {records} records", "F-missing-proof"),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"unsigned-proofs.{chain}.",
            what=f"its {records} records have no signatures",
            edit=_unsign_chain,
            cases=_denials(f"{records} records without signatures", "F-missing-proof"),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"spoiled-proofs.{chain}.",
            what=f"its {records} records have wrong signatures",
            edit=_spoil_chain,
            cases=_denials(f"{records} records with wrong signatures", "F-missing-proof"),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"ds-stripped.{chain}.",
            what=f"its DS records are left out, though the {records} record says that there are some",
            parent_edit=_strip_ds,
            cases=(Case(name="www", right=BOGUS, what=f"DS records left out, {records}", item="F-missing-ds-proof"),),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"ds-unsigned.{chain}.",
            what="its DS records have no signature",
            parent_edit=_strip_ds_signatures,
            cases=(Case(name="www", right=BOGUS, what="DS records without signature", item="F-missing-ds-proof"),),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"ds-spoiled.{chain}.",
            what="the signature of its DS records is wrong",
            parent_edit=_spoil_ds,
            cases=(Case(name="www", right=BOGUS, what="DS records with a wrong signature", item="F-bad-signature"),),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"ds-expired.{chain}.",
            what="the signature of its DS records has expired",
            parent_edit=_expire_ds,
            cases=(Case(name="www", right=BOGUS, what="DS records with an expired signature", item="F-expired"),),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"expired-proofs.{chain}.",
            what=f"the signatures of its {records} records have expired",
            edit=_expire_chain,
            cases=_expired(f"{records} records that have expired"),
            **kind,  # type: ignore[arg-type]
        ),
        ZonePlan(
            name=f"unproven-spoiled.{chain}.",
            what=f"not signed, and the {records} record that proves it has a wrong signature",
            chain="",
            records=USUAL,
            parent_edit=_spoil_ds_denial,
            cases=(
                Case(
                    name="www",
                    right=BOGUS,
                    what=f"an unsigned zone whose {records} record in its parent has a wrong signature",
                    item="F-missing-ds-proof",
                ),
            ),
        ),
        ZonePlan(
            name=f"unproven.{chain}.",
            what=f"not signed, and no {records} record proves that it is not",
            chain="",
            records=USUAL,
            parent_edit=_hide_delegation,
            cases=(
                Case(
                    name="www",
                    right=BOGUS,
                    what=f"an unsigned zone without a matching {records} record in its parent",
                    item="F-missing-ds-proof",
                ),
            ),
        ),
    )


PLANS = (
    *_plans("nsec"),
    *_plans("nsec3"),
    ZonePlan(
        name="unknown-hash.nsec3.",
        what="its NSEC3 records have a hash algorithm that nobody knows",
        chain="nsec3",
        records=USUAL,
        edit=_unknown_hash,
        cases=(
            Case(
                name="absent",
                right=BOGUS_OR_INSECURE,
                denied="name",
                what="a missing name, by NSEC3 records of a hash algorithm that nobody knows",
                item="F-nsec3-unknown",
            ),
            Case(
                name="www",
                rtype=RdataType.MX,
                right=BOGUS_OR_INSECURE,
                denied="type",
                what="a missing type, by NSEC3 records of a hash algorithm that nobody knows",
                item="F-nsec3-unknown",
            ),
        ),
    ),
    ZonePlan(
        # With NSEC the same record denies all names below it: what a resolver makes of that is right (RFC 8198).
        name="undelegated.nsec3.",
        what="not signed, and its NSEC3 record says that it is no delegation",
        chain="",
        records=USUAL,
        parent_edit=_clear_ns_bit,
        cases=(
            Case(
                name="www",
                right=BOGUS,
                what="an unsigned zone whose NSEC3 record has no NS bit (RFC 6840 section 4.4)",
                item="F-missing-ds-proof",
            ),
        ),
    ),
)
