"""Changes of a signed zone, record by record, that make it wrong."""

from collections.abc import Iterable
from dataclasses import dataclass

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdataset
import dns.rrset
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.verification.tree.keys import ZoneKey, ZoneKeys, replaced, sign_rrset

TTL_S = 60
IN = dns.rdataclass.IN
CHAIN_TYPES = (RdataType.NSEC, RdataType.NSEC3)


@dataclass(frozen=True, slots=True)
class ZoneEdit:
    """A signed zone with its keys; names are absolute."""

    zone: dns.zone.Zone
    origin: dns.name.Name
    keys: ZoneKeys
    times_s: tuple[int, int]
    """Inception and expiration of its signatures, in seconds since 1970."""

    def name(self, text: str) -> dns.name.Name:
        """Give a name of the zone; `@` is the apex."""
        return self.origin if text == "@" else dns.name.from_text(text, self.origin)

    def nsec_types(self, name: dns.name.Name) -> str:
        """Give the types in a name's NSEC record, as in a zone file."""
        _, types = str(self.rrset(name, RdataType.NSEC)[0]).split(maxsplit=1)
        return types

    def rrset(self, name: dns.name.Name, rtype: RdataType) -> dns.rrset.RRset:
        """Give an RRset that is there."""
        found = self.zone.find_rrset(name, rtype)
        return dns.rrset.from_rdata_list(name, found.ttl, list(found))

    def remove(self, name: dns.name.Name, rtype: RdataType, covers: RdataType = RdataType.NONE) -> None:
        """Take an RRset away; its signatures stay."""
        self.zone.delete_rdataset(name, rtype, covers)

    def remove_signatures(self, name: dns.name.Name, rtype: RdataType) -> None:
        """Take the signatures of an RRset away."""
        self.remove(name, RdataType.RRSIG, rtype)

    def remove_with_signatures(self, name: dns.name.Name, rtype: RdataType) -> None:
        """Take an RRset and its signatures away."""
        self.remove(name, rtype)
        self.remove_signatures(name, rtype)

    def put(self, name: dns.name.Name, rtype: RdataType, texts: Iterable[str], ttl_s: int = TTL_S) -> None:
        """Put an RRset, instead of what is there; its signatures stay as they are."""
        rdataset = dns.rdataset.from_text(IN, rtype, ttl_s, *texts)
        self.zone.replace_rdataset(name, rdataset)

    def put_signatures(self, name: dns.name.Name, signatures: Iterable[RRSIG], ttl_s: int = TTL_S) -> None:
        """Put signatures, instead of those of the same RRset."""
        self.zone.replace_rdataset(name, dns.rdataset.from_rdata_list(ttl_s, list(signatures)))

    def signatures(self, name: dns.name.Name, rtype: RdataType) -> list[RRSIG]:
        """Give the signatures of an RRset."""
        return list(self.zone.find_rdataset(name, RdataType.RRSIG, rtype))

    def sign(
        self,
        name: dns.name.Name,
        rtype: RdataType,
        key: ZoneKey | None = None,
        *,
        signer: dns.name.Name | None = None,
        labels: int | None = None,
        times_s: tuple[int, int] | None = None,
        tag: int | None = None,
    ) -> None:
        """Sign an RRset anew, by the zone-signing key unless told otherwise, instead of its signatures."""
        made = sign_rrset(
            self.rrset(name, rtype),
            key or self.keys.zsk,
            signer=signer or self.origin,
            times_s=times_s or self.times_s,
            labels=labels,
            tag=tag,
        )
        self.put_signatures(name, [made])

    def spoil_signatures(self, name: dns.name.Name, rtype: RdataType) -> None:
        """Change the last octet of each signature of an RRset."""
        spoiled = [
            replaced(rrsig, signature=rrsig.signature[:-1] + bytes([rrsig.signature[-1] ^ 0x55]))
            for rrsig in self.signatures(name, rtype)
        ]
        self.put_signatures(name, spoiled)

    def remove_chain(self) -> None:
        """Take all NSEC or NSEC3 records with their signatures away."""
        for name in [*self.zone.nodes]:
            for rtype in CHAIN_TYPES:
                self.remove_with_signatures(name, rtype)

    def owners(self, rtype: RdataType) -> list[dns.name.Name]:
        """Give the names that have records of a type, in canonical order."""
        return sorted(name for name, _ in self.zone.iterate_rdatasets(rtype))


def sign_by_hand(edit: ZoneEdit) -> None:
    """Sign a zone without delegations by algorithms that dnsrig's signer has not, with an NSEC chain."""
    keys = (edit.keys.ksk, edit.keys.zsk)
    edit.put(edit.origin, RdataType.DNSKEY, [str(key.dnskey) for key in keys], 300)
    names = sorted(edit.zone.nodes)
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        types = {rdataset.rdtype for rdataset in edit.zone.nodes[name]} | {RdataType.NSEC, RdataType.RRSIG}
        words = " ".join(RdataType.to_text(rtype) for rtype in sorted(types))
        edit.put(name, RdataType.NSEC, [f"{following} {words}"])
        for rtype in sorted(types - {RdataType.RRSIG}):
            edit.sign(name, rtype, keys[0] if rtype == RdataType.DNSKEY else keys[1])
