"""A root zone whose key-signing keys change while it is served, for what RFC 5011 says of trust anchors."""

import time
from collections.abc import Sequence

import dns.name
import dns.rdataset
import dns.rrset
import dns.zone
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import VALIDITY_S
from dnsrig.verification.tree.edits import ZoneEdit, sign_by_hand
from dnsrig.verification.tree.keys import SEP_FLAG, ZONE_FLAG, ZoneKey, ZoneKeys, new_key, sign_rrset
from dnsrig.verification.tree.loaded import LoadedZone

REVOKE_FLAG = 0x0080
TTL_S = 2
"""Short, so that resolvers probe often (RFC 5011 section 2.3) and what they have is soon forgotten."""
HOSTS = 200
"""Hosts `h0.` and so on."""


class RollingRoot:
    """The zone with its keys; `zone` is what a server of the tree serves."""

    def __init__(self, address: str, anchors: int) -> None:
        """Make keys, of which the first `anchors` are published and sign the keys."""
        now_s = int(time.time())
        self.times_s = (now_s + VALIDITY_S[0], now_s + VALIDITY_S[1])
        self.anchors = _different_keys(anchors)
        self.successor = _different_keys(1, {key.tag for key in self.anchors})[0]
        """A key that is no trust anchor to begin with."""
        self._zsk = new_key(Algorithm.ECDSAP256SHA256, ZONE_FLAG)
        self.zone = self._made(address)
        self.publish(self.anchors)

    def _made(self, address: str) -> LoadedZone:
        lines = [
            f"$TTL {TTL_S}",
            f". SOA ns1. hostmaster. 1 3600 600 1209600 {TTL_S}",
            ". NS ns1.",
            f"ns1. A {address}",
            *(f"h{number}. A 198.18.2.{number}" for number in range(HOSTS)),
        ]
        zone = dns.zone.from_text("\n".join(lines), dns.name.root, relativize=False)
        sign_by_hand(ZoneEdit(zone, dns.name.root, ZoneKeys(self.anchors[0], self._zsk), self.times_s))
        nodes = {name: {(one.rdtype, one.covers): one for one in node} for name, node in zone.nodes.items()}
        return LoadedZone(dns.name.root, nodes)

    @property
    def trust_anchors(self) -> str:
        """The DS records of the first keys, as a zone file's text."""
        texts = [ZoneKeys(key, key).ds(dns.name.root)[0] for key in self.anchors]
        return "".join(f". 3600 IN DS {text}\n" for text in texts)

    def publish(self, keys: Sequence[ZoneKey], signers: Sequence[ZoneKey] | None = None) -> None:
        """Publish these key-signing keys, with signatures of the DNSKEY RRset by them all, or by `signers`."""
        dnskeys = [key.dnskey for key in (*keys, self._zsk)]
        rrset = dns.rrset.from_rdata_list(dns.name.root, TTL_S, dnskeys)
        by = keys if signers is None else signers
        made = [sign_rrset(rrset, key, signer=dns.name.root, times_s=self.times_s) for key in by]
        node = self.zone.nodes[dns.name.root]
        # One assignment: a response has never the keys of one state and the signatures of another.
        self.zone.nodes[dns.name.root] = {
            **node,
            (RdataType.DNSKEY, RdataType.NONE): dns.rdataset.from_rdata_list(TTL_S, dnskeys),
            (RdataType.RRSIG, RdataType.DNSKEY): dns.rdataset.from_rdata_list(TTL_S, made),
        }


def revoked(key: ZoneKey) -> ZoneKey:
    """Give a key with the REVOKE flag (RFC 5011 section 2.1), so with another tag."""
    return key.with_flags(key.dnskey.flags | REVOKE_FLAG)


def _different_keys(count: int, tags: set[int] | None = None) -> list[ZoneKey]:
    """Make keys whose tags differ, also when they are revoked."""
    taken = set(tags or ())
    found: list[ZoneKey] = []
    while len(found) < count:
        key = new_key(Algorithm.ECDSAP256SHA256, ZONE_FLAG | SEP_FLAG)
        if not {key.tag, revoked(key).tag} & taken:
            taken |= {key.tag, revoked(key).tag}
            found.append(key)
    return found
