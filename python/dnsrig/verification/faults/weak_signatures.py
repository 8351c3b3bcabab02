"""What the weak resolver knows of DNSSEC: whether signatures fit the data, by the keys of the zone that made them.

It looks at no denial; some weaknesses do the hashing of one all the same.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import dns.dnssec
import dns.exception
import dns.message
import dns.name
import dns.rrset
from dns.rdatatype import RdataType

MOST_SIGNATURES, MOST_KEYS = 8, 4
"""So many signatures of an RRset, and keys of a tag, are tried."""
KeysOf = Callable[[dns.name.Name], Sequence[dns.rrset.RRset]]
"""Gives the DNSKEY RRset of a zone, with signatures or without."""


def has_wrong_signature(records: Sequence[dns.rrset.RRset], keys_of: KeysOf, *, bounded: bool = True) -> bool:
    """Say whether an RRset has signatures of which none is right; those without any are let pass.

    Unless it is `bounded`, every signature is tried with every key.
    """
    for rrset in records:
        signatures = [one for one in records if _is_of(one, rrset)]
        if rrset.rdtype == RdataType.RRSIG or not signatures:
            continue
        signer = signatures[0][0].signer
        keys = [one for one in keys_of(signer) if one.rdtype == RdataType.DNSKEY]
        tried, by = signatures[0], keys[0] if keys else None
        if bounded:
            tried = _first(tried, lambda _: 0, MOST_SIGNATURES)
            by = None if by is None else _first(by, dns.dnssec.key_id, MOST_KEYS)
        try:
            dns.dnssec.validate(rrset, tried, {} if by is None else {signer: by})
        except dns.exception.DNSException:
            return True
    return False


def _first(rrset: dns.rrset.RRset, kind_of: Callable[[Any], int], most: int) -> dns.rrset.RRset:
    """Give an RRset with the first records of each kind alone."""
    counted: Counter[int] = Counter()
    kept = []
    for rdata in rrset:
        kind = kind_of(rdata)
        counted[kind] += 1
        if counted[kind] <= most:
            kept.append(rdata)
    return dns.rrset.from_rdata_list(rrset.name, rrset.ttl, kept)


def hash_candidates(response: dns.message.Message, name: dns.name.Name, most_iterations: int) -> None:
    """Hash every name that may be the closest encloser of one that NSEC3 records deny (RFC 5155 section 8.3)."""
    shown = next((one for one in response.authority if one.rdtype == RdataType.NSEC3), None)
    if shown is None or shown[0].iterations > most_iterations:
        return
    zone = shown.name.parent()
    while name != zone and name.is_subdomain(zone):
        dns.dnssec.nsec3_hash(name, shown[0].salt, shown[0].iterations, 1)
        name = name.parent()


def _is_of(signatures: dns.rrset.RRset, rrset: dns.rrset.RRset) -> bool:
    return (signatures.rdtype, signatures.covers, signatures.name) == (RdataType.RRSIG, rrset.rdtype, rrset.name)


def without_signatures(records: Sequence[dns.rrset.RRset]) -> list[dns.rrset.RRset]:
    """Give what a client without DO gets."""
    return [rrset for rrset in records if rrset.rdtype != RdataType.RRSIG]
