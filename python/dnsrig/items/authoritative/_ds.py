"""What the items about DS and CDS records share."""

from collections.abc import Iterable

import dns.dnssec
import dns.exception
import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CDS import CDS
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.DS import DS

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.signatures import SignedRrset, signed_rrsets
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence

NO_KEY = 0
"""The algorithm by which CDS and CDNSKEY records ask for the DS RRset to be deleted (RFC 8078 section 4)."""


def is_digest_of(record: DS | CDS, key: DNSKEY, origin: dns.name.Name) -> bool | None:
    """Say whether a DS or CDS record is a key's; None if the digest type is not known here."""
    if (record.key_tag, record.algorithm) != (dns.dnssec.key_id(key), key.algorithm):
        return False
    try:
        made = dns.dnssec.make_ds(origin, key, record.digest_type, policy=dns.dnssec.allow_all_policy)
    except (dns.exception.DNSException, ValueError):
        return None
    return bytes(made.digest) == bytes(record.digest)


def keys_of_ds(records: Iterable[DS | CDS], keys: Iterable[DNSKEY], origin: dns.name.Name) -> list[DNSKEY]:
    """Find the keys that DS or CDS records point to."""
    wanted = [*records]
    return [key for key in keys if any(is_digest_of(record, key, origin) for record in wanted)]


def apex_rrset(subject: AuthoritativeSubject, exchange: Exchange, rtype: RdataType) -> SignedRrset | None:
    """Find an RRset at the apex, with its signatures, in an answer."""
    found = [] if exchange.message is None else signed_rrsets(exchange.message, ("answer",))
    wanted = (one for one in found if one.rrset.rdtype == rtype and one.rrset.name == subject.origin)
    return next(wanted, None)


def ds_evidence(subject: AuthoritativeSubject) -> Evidence:
    """Show the DS records that an item judged by."""
    lines = "\n".join(f"{subject.origin} IN DS {record}" for record in subject.ds)
    return Evidence("DS records as given", lines)
