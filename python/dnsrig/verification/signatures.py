"""The signatures in responses: which RRset they belong to, and whether they are valid (RFC 4035 section 5.3)."""

from collections.abc import Iterable
from dataclasses import dataclass

import dns.dnssec
import dns.exception
import dns.message
import dns.name
import dns.node
import dns.rdataset
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG

HALF = 2**31
ZONE_KEY, REVOKE, DNSSEC_PROTOCOL = 0x0100, 0x0080, 3
SIGNATURE_OCTETS = {13: 64, 14: 96, 15: 64, 16: 114}
"""By algorithm (RFC 6605 section 4, RFC 8080 section 4)."""
SECTIONS = ("answer", "authority", "additional")
UNSIGNED_TYPES = (RdataType.RRSIG, RdataType.OPT, RdataType.TSIG, RdataType.SIG)


@dataclass(frozen=True, slots=True)
class SignedRrset:
    """An RRset of a response with its signatures, if it has any."""

    section: str
    rrset: dns.rrset.RRset
    signatures: tuple[RRSIG, ...]
    signatures_ttl: int = 0
    """TTL of the RRSIG records, in seconds."""

    @property
    def title(self) -> str:
        """Owner name and type."""
        return f"{self.rrset.name} {RdataType.make(self.rrset.rdtype).name}"


def signed_rrsets(message: dns.message.Message, sections: Iterable[str] = SECTIONS) -> list[SignedRrset]:
    """List the RRsets of a response, RRSIG and OPT apart, each with the signatures in its section."""
    found = []
    for section in sections:
        rrsets: list[dns.rrset.RRset] = getattr(message, section)
        signatures = {(rrset.name, rrset.covers): rrset for rrset in rrsets if rrset.rdtype == RdataType.RRSIG}
        for rrset in rrsets:
            if rrset.rdtype not in UNSIGNED_TYPES:
                own = signatures.get((rrset.name, rrset.rdtype))
                found.append(SignedRrset(section, rrset, tuple(own) if own else (), 0 if own is None else int(own.ttl)))
    return found


def seconds_between(earlier_s: int, later_s: int) -> int:
    """Subtract times of signatures in serial number arithmetic (RFC 4034 section 3.1.5); negative if reversed."""
    return (later_s - earlier_s + HALF) % 2**32 - HALF


def is_in_time(signature: RRSIG, now_s: int) -> bool:
    """Say whether a time lies between inception and expiration (RFC 4035 section 5.3.1)."""
    return seconds_between(signature.inception, now_s) >= 0 and seconds_between(now_s, signature.expiration) >= 0


def labels_of(name: dns.name.Name) -> int:
    """Count labels as the Labels field does: without the root and a leading asterisk (RFC 4034 section 3.1.3)."""
    return len(name) - 1 - (1 if name.is_wild() else 0)


def expanded_from(one: SignedRrset) -> dns.name.Name | None:
    """Give the closest encloser if a wildcard was expanded to the RRset's name (RFC 4035 section 5.3.4)."""
    fewest = min((signature.labels for signature in one.signatures), default=None)
    if fewest is None or fewest >= labels_of(one.rrset.name):
        return None
    return dns.name.Name(one.rrset.name.labels[len(one.rrset.name) - 1 - fewest :])


def keys_for(signature: RRSIG, keys: Iterable[DNSKEY]) -> list[DNSKEY]:
    """Find the keys that may have made a signature, by algorithm and key tag."""
    return [key for key in keys if key.algorithm == signature.algorithm and dns.dnssec.key_id(key) == signature.key_tag]


def _why_unusable(keys: Iterable[DNSKEY], rtype: RdataType) -> str:
    """Say why none of the keys may be used for a type (RFC 4034 section 2.1, RFC 5011 section 2.1); "" if one may."""
    reasons = set()
    for key in keys:
        if not key.flags & ZONE_KEY:
            reasons.add("the key is without the Zone Key flag")
        elif key.protocol != DNSSEC_PROTOCOL:
            reasons.add(f"the key has protocol {key.protocol}")
        elif key.flags & REVOKE and rtype != RdataType.DNSKEY:
            reasons.add("the key is revoked")
        else:
            return ""
    return " and ".join(sorted(reasons))


def _wrong_length(signature: RRSIG) -> str:
    """Say how long a signature is to be, where it is not: some signers leave them in the form of X.509 (DER)."""
    right = SIGNATURE_OCTETS.get(int(signature.algorithm), len(signature.signature))
    if len(signature.signature) == right:
        return ""
    return f"it has {len(signature.signature)} octets, where algorithm {int(signature.algorithm)} has {right}"


def signature_trouble(rrset: dns.rrset.RRset, signature: RRSIG, keys: Iterable[DNSKEY]) -> str | None:
    """Say why a signature is not valid, whatever the time: "" if it is, None if its key or algorithm is not known."""
    candidates = keys_for(signature, keys)
    if not candidates:
        return None
    named: dict[dns.name.Name, dns.node.Node | dns.rdataset.Rdataset] = {
        signature.signer: dns.rrset.from_rdata_list(signature.signer, 0, candidates)
    }
    try:
        dns.dnssec.validate_rrsig(rrset, signature, named, now=signature.inception, policy=dns.dnssec.allow_all_policy)
    except dns.exception.UnsupportedAlgorithm:
        return None
    except dns.exception.DNSException as error:
        unusable = _why_unusable(candidates, RdataType.make(rrset.rdtype)) or _wrong_length(signature)
        return unusable or str(error) or "verify failure"
    except ValueError as error:
        # `cryptography` cannot make a key of the DNSKEY record's octets.
        return f"the key cannot be used: {error}"
    return ""
