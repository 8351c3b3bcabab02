"""The key of the upstream's zone, which signs what is asked for when it is asked for."""

import threading
import time
from dataclasses import dataclass, field
from functools import cached_property

import dns.dnssec
import dns.name
import dns.rrset
from cryptography.hazmat.primitives.asymmetric import ec
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY

from dnsrig.dates import DAY_S
from dnsrig.verification.upstream.names import ORIGIN, TTL_S

VALIDITY_S = (3600, 7 * DAY_S)
"""Signatures are valid from so long ago, for so long to come."""
KEY_FLAGS = 257


@dataclass(frozen=True)
class Signer:
    """A combined signing key of ECDSAP256SHA256, made anew for each upstream."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    _made: dict[str, dns.rrset.RRset] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def dnskey(self) -> DNSKEY:
        """The record of the key."""
        return dns.dnssec.make_dnskey(self.key.public_key(), Algorithm.ECDSAP256SHA256, KEY_FLAGS)

    @cached_property
    def keys(self) -> dns.rrset.RRset:
        """The zone's DNSKEY RRset: the trust anchor of a validating stub."""
        return dns.rrset.from_rdata(ORIGIN, TTL_S, self.dnskey)

    def signatures(self, rrset: dns.rrset.RRset) -> dns.rrset.RRset:
        """Sign an RRset of the zone; the same one has the same signature, as if it came from a cache."""
        question = rrset.to_text()
        with self._lock:
            found = self._made.get(question)
            if found is None:
                found = self._made[question] = self._sign(rrset)
        return found

    def _sign(self, rrset: dns.rrset.RRset) -> dns.rrset.RRset:
        now_s = int(time.time())
        rrsig = dns.dnssec.sign(
            rrset,
            self.key,
            ORIGIN,
            self.dnskey,
            inception=now_s - VALIDITY_S[0],
            expiration=now_s + VALIDITY_S[1],
            verify=False,
        )
        made = dns.rrset.RRset(rrset.name, rrset.rdclass, RdataType.RRSIG, rrset.rdtype)
        made.add(rrsig, rrset.ttl)
        return made
