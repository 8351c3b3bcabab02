"""Trust anchors: DS and DNSKEY records (RFC 4033 section 2), in the forms that the servers want."""

from collections.abc import Iterable
from dataclasses import dataclass

import dns.dnssec
import dns.exception
import dns.name
import dns.rdatatype
import dns.rdtypes.ANY.DNSKEY
import dns.rdtypes.ANY.DS
import dns.zonefile

from dnsrig.errors import InputError
from dnsrig.servers.interruption import raise_interruption
from dnsrig.servers.rendering import zone_name


@dataclass(frozen=True, slots=True)
class Anchor:
    """One DS or DNSKEY record."""

    owner: dns.name.Name
    rdata: dns.rdtypes.ANY.DS.DS | dns.rdtypes.ANY.DNSKEY.DNSKEY

    @property
    def zone(self) -> str:
        """The zone's name, with the final dot."""
        return self.owner.to_text()

    @property
    def record(self) -> str:
        """The record as in a zone file."""
        return f"{self.zone} 3600 IN {self.rdata.rdtype.name} {self._data()}"

    @property
    def fields(self) -> list[str]:
        """The record's data, a field each, key and digest in one piece."""
        return self._data().split(" ", 3)

    @property
    def is_ds(self) -> bool:
        """Whether it is a DS record."""
        return isinstance(self.rdata, dns.rdtypes.ANY.DS.DS)

    def ds(self) -> "Anchor":
        """Give it as DS record, of a DNSKEY record that with SHA-256 (RFC 4509)."""
        if isinstance(self.rdata, dns.rdtypes.ANY.DS.DS):
            return self
        return Anchor(self.owner, dns.dnssec.make_ds(self.owner, self.rdata, "SHA256"))

    def _data(self) -> str:
        return self.rdata.to_text(chunksize=0)


def read_anchors(text: str) -> tuple[Anchor, ...]:
    """Read the DS and DNSKEY records of a text in zone file format, such as a dsset file; others are left aside.

    Raises:
        InputError: it cannot be read, has no such record, or one of a zone whose name no configuration can hold.

    """
    try:
        rrsets = dns.zonefile.read_rrsets(text, origin=dns.name.root, relativize=False, rdclass=None, default_ttl=3600)
    except (dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        raise InputError(f"the trust anchors cannot be read: {error}") from error
    found = tuple(
        Anchor(rrset.name, rdata)
        for rrset in rrsets
        for rdata in rrset
        if isinstance(rdata, dns.rdtypes.ANY.DS.DS | dns.rdtypes.ANY.DNSKEY.DNSKEY)
        and rrset.rdtype in {dns.rdatatype.DS, dns.rdatatype.DNSKEY}
    )
    for anchor in found:
        zone_name(anchor.zone)
    if not found:
        raise InputError("there is no DS or DNSKEY record in the trust anchors")
    return found


def by_zone(anchors: Iterable[Anchor]) -> dict[str, list[Anchor]]:
    """Group anchors by their zone, in the order in which they come."""
    grouped: dict[str, list[Anchor]] = {}
    for anchor in anchors:
        grouped.setdefault(anchor.zone, []).append(anchor)
    return grouped
