"""What the weak resolver knows of DNSSEC: whether signatures fit the data, by the keys of the zone that made them."""

from collections.abc import Callable, Sequence

import dns.dnssec
import dns.exception
import dns.name
import dns.rrset
from dns.rdatatype import RdataType

KeysOf = Callable[[dns.name.Name], Sequence[dns.rrset.RRset]]
"""Gives the DNSKEY RRset of a zone, with signatures or without."""


def has_wrong_signature(records: Sequence[dns.rrset.RRset], keys_of: KeysOf) -> bool:
    """Say whether an RRset has signatures of which none is right; those without any are let pass."""
    for rrset in records:
        signatures = [one for one in records if _is_of(one, rrset)]
        if rrset.rdtype == RdataType.RRSIG or not signatures:
            continue
        signer = signatures[0][0].signer
        keys = [one for one in keys_of(signer) if one.rdtype == RdataType.DNSKEY]
        try:
            dns.dnssec.validate(rrset, signatures[0], {signer: keys[0]} if keys else {})
        except dns.exception.DNSException:
            return True
    return False


def _is_of(signatures: dns.rrset.RRset, rrset: dns.rrset.RRset) -> bool:
    return (signatures.rdtype, signatures.covers, signatures.name) == (RdataType.RRSIG, rrset.rdtype, rrset.name)


def without_signatures(records: Sequence[dns.rrset.RRset]) -> list[dns.rrset.RRset]:
    """Give what a client without DO gets."""
    return [rrset for rrset in records if rrset.rdtype != RdataType.RRSIG]
