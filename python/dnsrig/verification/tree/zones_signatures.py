"""Zones whose signatures, keys or DS records are wrong."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.tree.cases import BOGUS, INSECURE, Case, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit
from dnsrig.verification.tree.keys import SEP_FLAG, ZONE_FLAG, ZoneKey, ZoneKeys, new_key, replaced
from dnsrig.verification.tree.zones_good import USUAL

DECADES_S = 2_000_000_000
"""As far as serial numbers of 32 bits allow, nearly."""
RSASHA256 = 8
PRIVATE_TYPE = RdataType.make(65_280)
ADDRESSES = (RdataType.A, RdataType.AAAA)
SPOILED = (RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT)
PRIVATE_RECORD = r"typed IN TYPE65280 \# 4 0a000001"


def _spoil_www(edit: ZoneEdit) -> None:
    for rtype in SPOILED:
        edit.spoil_signatures(edit.name("www"), rtype)


def _change_www(edit: ZoneEdit) -> None:
    edit.put(edit.name("www"), RdataType.A, ["198.18.2.66"])
    edit.put(edit.name("www"), RdataType.AAAA, ["2001:2::66"])


def _unsign_www(edit: ZoneEdit) -> None:
    for rtype in ADDRESSES:
        edit.remove_signatures(edit.name("www"), rtype)


def _unsign_all(edit: ZoneEdit) -> None:
    for name, node in [*edit.zone.nodes.items()]:
        for rdataset in [*node]:
            if rdataset.rdtype == RdataType.RRSIG:
                edit.remove_signatures(name, rdataset.covers)


def _unsign_keys(edit: ZoneEdit) -> None:
    edit.remove_signatures(edit.origin, RdataType.DNSKEY)


def _remove_keys(edit: ZoneEdit) -> None:
    _unsign_all(edit)
    edit.remove(edit.origin, RdataType.DNSKEY)
    edit.remove_chain()


def _expire_www(edit: ZoneEdit) -> None:
    now_s = edit.times_s[0] + 3600
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, times_s=(now_s - 9 * DAY_S, now_s - 2 * DAY_S))


def _expire_keys(edit: ZoneEdit) -> None:
    now_s = edit.times_s[0] + 3600
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk, times_s=(now_s - 9 * DAY_S, now_s - 2 * DAY_S))


def _expire_aliases(edit: ZoneEdit) -> None:
    now_s = edit.times_s[0] + 3600
    times_s = (now_s - 9 * DAY_S, now_s - 2 * DAY_S)
    edit.sign(edit.name("alias"), RdataType.CNAME, times_s=times_s)
    edit.sign(edit.name("tree"), RdataType.DNAME, times_s=times_s)


def _postpone_www(edit: ZoneEdit) -> None:
    now_s = edit.times_s[0] + 3600
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, times_s=(now_s + 2 * DAY_S, now_s + 9 * DAY_S))


def _swap_times_www(edit: ZoneEdit) -> None:
    """Let the signature end before it begins, both around now."""
    now_s = edit.times_s[0] + 3600
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, times_s=(now_s + DAY_S, now_s - DAY_S))


def _sign_by_other(edit: ZoneEdit) -> None:
    """Sign with a key that the zone has not, under the tag of the one that it has."""
    stranger = new_key(edit.keys.zsk.dnskey.algorithm, ZONE_FLAG)
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, stranger, tag=edit.keys.zsk.tag)


def _sign_by_unlisted(edit: ZoneEdit) -> None:
    stranger = new_key(edit.keys.zsk.dnskey.algorithm, ZONE_FLAG)
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, stranger)


def _wrong_signer(edit: ZoneEdit) -> None:
    """Name the parent as the signer; the signature is the zone's own."""
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, signer=edit.origin.parent())


def _signer_below(edit: ZoneEdit) -> None:
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, signer=edit.name("www"))


def _too_many_labels(edit: ZoneEdit) -> None:
    name = edit.name("www")
    for rtype in ADDRESSES:
        edit.sign(name, rtype, labels=len(name.labels))


def _too_few_labels(edit: ZoneEdit) -> None:
    """Sign as if the name came from a wildcard that the zone has not; the NSEC record says that the name exists."""
    name = edit.name("www")
    wildcard = edit.name("*")
    for rtype in ADDRESSES:
        edit.put(wildcard, rtype, [str(rdata) for rdata in edit.rrset(name, rtype)])
        edit.sign(wildcard, rtype)
        made = edit.signatures(wildcard, rtype)
        edit.remove_with_signatures(wildcard, rtype)
        edit.put_signatures(name, made)


def _no_zone_flag(edit: ZoneEdit) -> None:
    """Sign with a key that is in the DNSKEY RRset, but is no zone key (RFC 4034 section 2.1.1)."""
    other = edit.keys.zsk.with_flags(0)
    dnskeys = [str(rdata) for rdata in edit.rrset(edit.origin, RdataType.DNSKEY)]
    edit.put(edit.origin, RdataType.DNSKEY, [*dnskeys, str(other.dnskey)], 300)
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk)
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, other)


def _sign_twice(edit: ZoneEdit) -> None:
    """Put a signature of another key before the right one, as there is while a key is rolled.

    No more than one, and by a key that is not there: since KeyTrap (CVE-2023-50387) validators give up after few
    signatures that do not verify, BIND 9.18 after one.
    """
    stranger = new_key(edit.keys.zsk.dnskey.algorithm, ZONE_FLAG)
    for rtype in ADDRESSES:
        name = edit.name("www")
        right = edit.signatures(name, rtype)
        edit.sign(name, rtype, stranger)
        edit.put_signatures(name, [*edit.signatures(name, rtype), *right])


def _ds_of_two(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    """Give the DS record of a key that the zone has not yet before that of the one that it has."""
    return [*_ds_of_other(keys, origin), *keys.ds(origin)]


def _revoked_key(edit: ZoneEdit) -> None:
    """Sign with a key that the zone has revoked (RFC 5011 section 2.1)."""
    revoked = edit.keys.zsk.with_flags(ZONE_FLAG | 0x0080)
    dnskeys = [str(edit.keys.ksk.dnskey), str(revoked.dnskey)]
    edit.put(edit.origin, RdataType.DNSKEY, dnskeys, 300)
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk)


def _other_algorithm(edit: ZoneEdit) -> None:
    """Name another algorithm in the signature than that of its key."""
    name = edit.name("www")
    for rtype in ADDRESSES:
        edit.put_signatures(name, [replaced(one, algorithm=RSASHA256) for one in edit.signatures(name, rtype)])


def _other_protocol(edit: ZoneEdit) -> None:
    """Sign with a key that is in the DNSKEY RRset, but not for DNSSEC (RFC 4034 section 2.1.2)."""
    other = ZoneKey(edit.keys.zsk.private, replaced(edit.keys.zsk.dnskey, protocol=2))
    edit.put(edit.origin, RdataType.DNSKEY, [str(edit.keys.ksk.dnskey), str(other.dnskey)], 300)
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.ksk)
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, other)


def _sign_for_decades(edit: ZoneEdit) -> None:
    """Let the signature end after 2038: times are compared as serial numbers (RFC 4034 section 3.1.5)."""
    edit.sign(edit.name("www"), RdataType.A, times_s=(edit.times_s[0], edit.times_s[0] + DECADES_S))


def _sign_keys_by_zsk(edit: ZoneEdit) -> None:
    edit.sign(edit.origin, RdataType.DNSKEY, edit.keys.zsk)


def _ds_of_zsk(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    return ZoneKeys(keys.zsk, keys.zsk).ds(origin)


def _add_foreign_key(edit: ZoneEdit) -> None:
    """Put a key into the DNSKEY RRset whose signature stays as it was, and sign by it."""
    stranger = new_key(edit.keys.zsk.dnskey.algorithm, ZONE_FLAG)
    dnskeys = [str(rdata) for rdata in edit.rrset(edit.origin, RdataType.DNSKEY)]
    edit.put(edit.origin, RdataType.DNSKEY, [*dnskeys, str(stranger.dnskey)], 300)
    for rtype in ADDRESSES:
        edit.sign(edit.name("www"), rtype, stranger)


def _ttl_raised(edit: ZoneEdit) -> None:
    """Change the original TTL in the signature, which the signature covers."""
    name = edit.name("www")
    for rtype in ADDRESSES:
        changed = [replaced(one, original_ttl=one.original_ttl + 1) for one in edit.signatures(name, rtype)]
        edit.put_signatures(name, changed)


def _spoil_fresh(edit: ZoneEdit) -> None:
    edit.spoil_signatures(edit.name("*.fresh"), RdataType.A)


def _ds_digest(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    words = keys.ds(origin)[0].split()
    return [" ".join([*words[:3], "0" * 8 + words[3][8:]])]


def _ds_tag(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    words = keys.ds(origin)[0].split()
    return [" ".join([str(int(words[0]) ^ 1), *words[1:]])]


def _ds_algorithm(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    words = keys.ds(origin)[0].split()
    return [" ".join([words[0], str(RSASHA256), *words[2:]])]


def _ds_of_other(keys: ZoneKeys, origin: dns.name.Name) -> list[str]:
    stranger = new_key(keys.ksk.dnskey.algorithm, ZONE_FLAG | SEP_FLAG)
    return ZoneKeys(stranger, stranger).ds(origin)


def _bogus(name: str, what: str, item: str, **plan: object) -> ZonePlan:
    cases = tuple(Case(name="www", rtype=rtype, right=BOGUS, what=what, item=item) for rtype in ADDRESSES)
    return ZonePlan(name=name, what=what, records=USUAL, cases=cases, **plan)  # type: ignore[arg-type]


PLANS = (
    _bogus("expired.nsec.", "all signatures have expired", "F-expired", validity_s=(-9 * DAY_S, -2 * DAY_S)),
    _bogus("expired-data.nsec.", "the signature of the data has expired", "F-expired", edit=_expire_www),
    _bogus("expired-keys.nsec.", "the signature of the keys has expired", "F-expired", edit=_expire_keys),
    ZonePlan(
        name="expired-aliases.nsec.",
        what="the signatures of its CNAME and DNAME records have expired",
        records=(*USUAL, "tree IN DNAME secure.nsec."),
        edit=_expire_aliases,
        cases=(
            Case(name="alias", right=BOGUS, what="the signature of the alias has expired", item="F-expired"),
            Case(name="www.tree", right=BOGUS, what="the signature of the DNAME record has expired", item="F-expired"),
        ),
    ),
    _bogus("future.nsec.", "all signatures begin in two days", "F-future", validity_s=(2 * DAY_S, 9 * DAY_S)),
    _bogus("future-data.nsec.", "the signature of the data begins in two days", "F-future", edit=_postpone_www),
    _bogus("times-swapped.nsec.", "the signature expires before its inception", "F-expired", edit=_swap_times_www),
    ZonePlan(
        name="bad-signature.nsec.",
        what="an octet of each signature at www is changed",
        records=(*USUAL, "www IN MX 10 www", 'www IN TXT "its signature is changed"'),
        edit=_spoil_www,
        cases=tuple(
            Case(
                name="www",
                rtype=rtype,
                right=BOGUS,
                what=f"an octet of the signature of {rtype.name} is changed",
                item="F-bad-signature",
            )
            for rtype in SPOILED
        ),
    ),
    _bogus("changed-data.nsec.", "the data are changed after signing", "F-bad-signature", edit=_change_www),
    _bogus("changed-ttl.nsec.", "the original TTL in the signature is changed", "F-bad-signature", edit=_ttl_raised),
    _bogus(
        "keys-changed.nsec.",
        "a key that signs the data was added to the keys after these were signed",
        "F-bad-signature",
        edit=_add_foreign_key,
    ),
    _bogus(
        "keys-by-zsk.nsec.",
        "the keys are signed by a key that the DS record is not of",
        "F-ds-mismatch",
        edit=_sign_keys_by_zsk,
    ),
    _bogus("missing-rrsig.nsec.", "the data have no signature", "F-missing-rrsig", edit=_unsign_www),
    _bogus("all-rrsigs-missing.nsec.", "nothing has a signature", "F-missing-rrsig", edit=_unsign_all),
    ZonePlan(
        name="keys-unsigned.nsec.",
        what="the keys have no signature",
        records=USUAL,
        edit=_unsign_keys,
        cases=(
            Case(name="www", right=BOGUS, what="the keys have no signature", item="F-missing-rrsig"),
            Case(name="@", rtype=RdataType.DNSKEY, right=BOGUS, what="keys without signature", item="F-missing-rrsig"),
        ),
    ),
    _bogus(
        "no-dnskey.nsec.", "there are DS records, but the zone is not signed", "F-missing-dnskey", edit=_remove_keys
    ),
    _bogus("ds-digest.nsec.", "the digest of the DS record is wrong", "F-ds-mismatch", ds=_ds_digest),
    _bogus("ds-tag.nsec.", "the key tag of the DS record is wrong", "F-ds-mismatch", ds=_ds_tag),
    _bogus("ds-algorithm.nsec.", "the algorithm of the DS record is another", "F-ds-mismatch", ds=_ds_algorithm),
    _bogus("ds-other-key.nsec.", "the DS record is that of another key", "F-ds-mismatch", ds=_ds_of_other),
    _bogus("wrong-signer.nsec.", "the signature names the parent zone as signer", "F-wrong-signer", edit=_wrong_signer),
    _bogus(
        "signer-below.nsec.",
        "the signature names a name below the zone as signer",
        "F-wrong-signer",
        edit=_signer_below,
    ),
    _bogus(
        "too-many-labels.nsec.", "the signature has more labels than the name", "F-wrong-labels", edit=_too_many_labels
    ),
    _bogus(
        "too-few-labels.nsec.",
        "the signature is that of a wildcard, which the name does not come from",
        "F-wrong-labels",
        edit=_too_few_labels,
    ),
    _bogus(
        "other-key.nsec.",
        "the signature is by a key that the zone has not, under the tag of one that it has",
        "F-wrong-key",
        edit=_sign_by_other,
    ),
    _bogus(
        "unlisted-key.nsec.", "the signature is by a key that the zone has not", "F-wrong-key", edit=_sign_by_unlisted
    ),
    _bogus("no-zone-flag.nsec.", "the signature is by a key without Zone Key flag", "F-zone-flag", edit=_no_zone_flag),
    _bogus(
        "revoked-key.nsec.",
        "the signature is by a key whose REVOKE flag has changed its tag",
        "F-wrong-key",
        edit=_revoked_key,
    ),
    _bogus(
        "other-algorithm.nsec.",
        "the signature names another algorithm than its key has",
        "F-wrong-key",
        edit=_other_algorithm,
    ),
    _bogus(
        "other-protocol.nsec.", "the signature is by a key for another protocol", "F-zone-flag", edit=_other_protocol
    ),
    ZonePlan(
        name="decades.nsec.",
        what="a signature ends after 2038",
        records=USUAL,
        edit=_sign_for_decades,
        cases=(Case(name="www", what="a signature that ends after 2038", item="F-secure-data"),),
    ),
    ZonePlan(
        name="without-sep.nsec.",
        what="its DS record is of a key without SEP flag, which signs the keys",
        records=USUAL,
        ds=_ds_of_zsk,
        edit=_sign_keys_by_zsk,
        cases=(Case(name="www", what="a DS record of a key without SEP flag", item="F-secure-data"),),
    ),
    ZonePlan(
        name="rolled.nsec.",
        what="signatures of another key beside right ones, and a DS record of a key that is not there yet",
        records=USUAL,
        ds=_ds_of_two,
        edit=_sign_twice,
        cases=tuple(
            Case(name="www", rtype=rtype, what="a signature of another key beside the right one", item="F-secure-data")
            for rtype in ADDRESSES
        ),
    ),
    ZonePlan(
        name="control.nsec.",
        what="right, for finding out whether a resolver validates",
        records=(*USUAL, "*.fresh IN A 198.18.2.85"),
        cases=(Case(name="www", what="an address"),),
    ),
    ZonePlan(
        name="private-type.nsec.",
        what="right, with records of a type for private use (RFC 6895 section 3.1)",
        records=(*USUAL, PRIVATE_RECORD),
        cases=(Case(name="typed", rtype=PRIVATE_TYPE, what="a type for private use", item="F-unknown-type"),),
    ),
    ZonePlan(
        name="control-bogus.nsec.",
        what="names made from a wildcard with a wrong signature: as many bogus names as are asked for",
        records=(*USUAL, "*.fresh IN A 198.18.2.85"),
        edit=_spoil_fresh,
        cases=(
            Case(
                name="any.fresh", right=BOGUS, what="a name made from a wildcard with a wrong signature", item="F-bogus"
            ),
        ),
    ),
    ZonePlan(
        name="control.unsigned.",
        what="not signed, for finding out whether a resolver resolves from the tree",
        chain="",
        records=(*USUAL, "*.fresh IN A 198.18.2.85"),
        cases=(Case(name="www", right=INSECURE, what="an address"),),
    ),
)
