"""A-cds-fit: CDS and CDNSKEY records fit the keys."""

import dns.dnssec
import dns.rdata
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CDNSKEY import CDNSKEY
from dns.rdtypes.ANY.CDS import CDS
from dns.rdtypes.ANY.DNSKEY import DNSKEY

from dnsrig.items.authoritative._answers import is_served_below, zone_keys
from dnsrig.items.authoritative._contents import Published, contents
from dnsrig.items.authoritative._ds import NO_KEY, apex_rrset, is_digest_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-cds-fit",
    role="authoritative",
    group="DNSSEC: keys",
    requirement=(
        "CDS and CDNSKEY records are at the apex, and of the same keys, one of which signs the apex DNSKEY RRset."
    ),
    references=("RFC 7344 section 4", "RFC 7344 section 4.1", "RFC 8078 section 4"),
    severity=Severity.ERROR,
    consequence=(
        "A parent zone that follows them ends with DS records by which the zone is bogus, or refuses to follow."
    ),
    procedure=(
        "Records of both types at other names of the zone are looked for, as far as its data are known. CDS, "
        "CDNSKEY and DNSKEY RRsets are asked for: where there are both kinds, each CDS record is of a CDNSKEY "
        "record and the other way round; a CDS record with key tag and algorithm of a key in the DNSKEY RRset has "
        "its digest, where the digest type is known; a key that they name is in the DNSKEY RRset, and among its "
        "signers. Records of algorithm 0 ask for the deletion of the DS records: they stand alone, and all else in "
        "them is 0."
    ),
    dig=("dig @{server} -p {port} {zone} CDS +norec +dnssec", "dig @{server} -p {port} {zone} CDNSKEY +norec +dnssec"),
    needs=("signatures",),
    faults=(
        "cds-deletion-with-digest",
        "cds-of-another-key",
        "cds-below-apex",
        "cds-with-wrong-digest",
        "cdnskey-of-another-key",
        "key-signing-key-does-not-sign",
        "only-revoked-key-signs",
    ),
)

DNSSEC_PROTOCOL = 3


def _same_key(one: DNSKEY | CDNSKEY, other: DNSKEY | CDNSKEY) -> bool:
    return (one.flags, one.protocol, one.algorithm, one.key) == (
        other.flags,
        other.protocol,
        other.algorithm,
        other.key,
    )


def _dnskey_of(one: CDNSKEY) -> DNSKEY:
    found = dns.rdata.from_text(one.rdclass, RdataType.DNSKEY, one.to_text())
    if not isinstance(found, DNSKEY):
        raise TypeError(one)
    return found


def _pair_trouble(subject: AuthoritativeSubject, digests: list[CDS], published: list[CDNSKEY]) -> str:
    """Say what CDS and CDNSKEY records do not have in common."""
    if not digests or not published:
        return ""
    known = [_dnskey_of(one) for one in published]
    for digest in digests:
        if all(is_digest_of(digest, key, subject.origin) is False for key in known):
            return f"the CDS record of key {digest.key_tag} has no CDNSKEY record"
    for key in known:
        if all(is_digest_of(digest, key, subject.origin) is False for digest in digests):
            return f"the CDNSKEY record of key {dns.dnssec.key_id(key)} has no CDS record"
    return ""


def _wrong_digest(subject: AuthoritativeSubject, digests: list[CDS]) -> CDS | None:
    """Give a record with the key tag and algorithm of keys that are published, and the digest of none of them."""
    for one in digests:
        wanted = (one.key_tag, one.algorithm)
        keys = [key for key in zone_keys(subject) if (dns.dnssec.key_id(key), key.algorithm) == wanted]
        if keys and all(is_digest_of(one, key, subject.origin) is False for key in keys):
            return one
    return None


def _is_deletion(one: CDS | CDNSKEY) -> bool:
    """Say whether a record of algorithm 0 is one of the two that ask for deletion (RFC 8078 section 4)."""
    if isinstance(one, CDS):
        return (one.key_tag, one.digest_type, bytes(one.digest)) == (0, 0, b"\0")
    return (one.flags, one.protocol, bytes(one.key)) == (0, DNSSEC_PROTOCOL, b"\0")


def _below_apex(subject: AuthoritativeSubject) -> Published | None:
    """Find records at names that are no apex (RFC 7344 section 4.1); those of zones below are these zones' own."""
    known = contents(subject)
    return next(
        (
            one
            for one in known.of(RdataType.CDS, RdataType.CDNSKEY)
            if one.name != subject.origin
            and known.delegated(one.name) is None
            and not is_served_below(subject, one.name)
        ),
        None,
    )


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare CDS, CDNSKEY and DNSKEY records."""
    asked = [subject.answers.get(subject.origin, rtype) for rtype in (RdataType.CDS, RdataType.CDNSKEY)]
    rrsets = [apex_rrset(subject, *pair) for pair in zip(asked, (RdataType.CDS, RdataType.CDNSKEY), strict=True)]
    digests = [one for one in (rrsets[0].rrset if rrsets[0] else ()) if isinstance(one, CDS)]
    published = [one for one in (rrsets[1].rrset if rrsets[1] else ()) if isinstance(one, CDNSKEY)]
    shown = (*asked, subject.dnskey)
    misplaced = _below_apex(subject)
    if misplaced is not None:
        return failed(f"{misplaced.title} is below the apex, where nobody looks for it.", misplaced.shown)
    if not digests and not published:
        return not_applicable("The zone has neither CDS nor CDNSKEY records.", *asked)
    wanted: list[CDS | CDNSKEY] = [*digests, *published]
    deletions = [one for one in wanted if one.algorithm == NO_KEY]
    if deletions:
        if len(deletions) < len(wanted):
            return failed("Records that ask for deletion stand beside others.", *shown)
        wrong = next((one for one in deletions if not _is_deletion(one)), None)
        if wrong is not None:
            return failed(f"{RdataType.make(wrong.rdtype).name} {wrong} has algorithm 0, but is no deletion.", *shown)
        return passed("The records ask for the deletion of the DS records.", *shown)
    trouble = _pair_trouble(subject, digests, published)
    if trouble:
        return failed(f"The records are not of the same keys: {trouble}.", *shown)
    wrong_digest = _wrong_digest(subject, digests)
    if wrong_digest is not None:
        return failed(f"The CDS record of key {wrong_digest.key_tag} has not that key's digest.", *shown)
    named = [
        key
        for key in zone_keys(subject)
        if any(_same_key(key, one) for one in published)
        or any(is_digest_of(one, key, subject.origin) is not False for one in digests)
    ]
    if not named:
        return failed("No key that the records name is in the DNSKEY RRset.", *shown)
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    signers = set() if dnskey is None else {signature.key_tag for signature in dnskey.signatures}
    if not signers & {dns.dnssec.key_id(key) for key in named}:
        return failed("No key that the records name signs the DNSKEY RRset.", *shown)
    return passed(f"They are of {len(named)} keys of the zone.", *shown)
