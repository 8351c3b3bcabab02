"""Answers of an authoritative server (RFC 1034 section 4.3.2, RFC 4035 section 3.1, RFC 5155 section 7.2, RFC 6672)."""

from collections.abc import Mapping
from dataclasses import dataclass

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.tree.loaded import WILDCARD, LoadedZone

SERVER_PAYLOAD = 4096
ALIASES = 8
"""So many CNAME records are followed within a zone."""
Zones = Mapping[dns.name.Name, LoadedZone]


def answer(query: dns.message.Message, zones: Zones) -> dns.message.Message:
    """Answer a query from the zones of one address."""
    response = dns.message.make_response(query, our_payload=SERVER_PAYLOAD)
    response.flags &= ~dns.flags.CD
    if query.edns >= 0:
        # RFC 3225 section 3.
        response.want_dnssec(bool(query.ednsflags & dns.flags.DO))
    if query.edns > 0:
        response.set_rcode(dns.rcode.BADVERS)
        return response
    if query.opcode() != dns.opcode.QUERY or len(query.question) != 1:
        response.set_rcode(dns.rcode.NOTIMP)
        return response
    question = query.question[0]
    zone = zone_for(question.name, question.rdtype, zones)
    if zone is None or question.rdclass != dns.rdataclass.IN:
        response.set_rcode(dns.rcode.REFUSED)
        return response
    signed = query.edns >= 0 and bool(query.ednsflags & dns.flags.DO)
    _Answering(zone, response, question.rdtype, signed).run(question.name)
    return response


def zone_for(name: dns.name.Name, rtype: RdataType, zones: Zones) -> LoadedZone | None:
    """Give the lowest zone that has a name; DS records are the parent's, where it is served too."""
    above = name.canonicalize()
    skipped = None
    while True:
        found = zones.get(above)
        if found is not None and rtype == RdataType.DS and above == name and skipped is None and len(above.labels) > 1:
            skipped = found
        elif found is not None:
            return found
        if len(above.labels) <= 1:
            return skipped
        above = above.parent()


@dataclass
class _Answering:
    """One response in the making."""

    zone: LoadedZone
    response: dns.message.Message
    rtype: RdataType
    signed: bool

    def run(self, name: dns.name.Name) -> None:
        """Fill the response; aliases are followed within the zone."""
        for _ in range(ALIASES):
            following = self._step(name)
            if following is None or not following.is_subdomain(self.zone.origin):
                return
            name = following

    def _step(self, name: dns.name.Name) -> dns.name.Name | None:
        """Answer for one name; give the one that it is an alias of."""
        zone = self.zone
        cut = zone.cut_above(name)
        if cut is not None and not (cut == name and self.rtype == RdataType.DS):
            self._refer(cut)
            return None
        self.response.flags |= dns.flags.AA
        owner = zone.dname_above(name)
        if owner is not None:
            return self._rename(name, owner)
        if name in zone.existing:
            return self._from(name, name)
        wildcard = WILDCARD + zone.closest_encloser(name)
        if wildcard not in zone.existing:
            self.response.set_rcode(dns.rcode.NXDOMAIN)
            self._deny(zone.proof_of_absence(name) if self.signed else [])
            return None
        following = self._from(wildcard, name)
        if self.signed:
            self._add("authority", zone.proof_of_absence(name, wildcard_too=not self.response.answer))
        return following

    def _from(self, source: dns.name.Name, name: dns.name.Name) -> dns.name.Name | None:
        """Answer from a name's records, or from those of a wildcard."""
        zone = self.zone
        if self.rtype == RdataType.ANY:
            for rtype in {rtype for rtype, _ in zone.nodes.get(source, {}) if rtype != RdataType.RRSIG}:
                self._add("answer", zone.rrset(source, rtype, name, signed=self.signed))
            return None
        if zone.has(source, self.rtype):
            self._add("answer", zone.rrset(source, self.rtype, name, signed=self.signed))
            return None
        if zone.has(source, RdataType.CNAME):
            found = zone.rrset(source, RdataType.CNAME, name, signed=self.signed)
            self._add("answer", found)
            target: dns.name.Name = found[0][0].target
            return target
        self._deny(zone.proof_of_no_type(source) if self.signed else [])
        return None

    def _rename(self, name: dns.name.Name, owner: dns.name.Name) -> dns.name.Name | None:
        """Answer with a DNAME record and the CNAME record made from it (RFC 6672 section 3.1)."""
        found = self.zone.rrset(owner, RdataType.DNAME, signed=self.signed)
        self._add("answer", found)
        target: dns.name.Name = name.relativize(owner) + found[0][0].target
        cname = dns.rrset.from_text(name, found[0].ttl, dns.rdataclass.IN, RdataType.CNAME, str(target))
        self._add("answer", [cname])
        return target

    def _refer(self, cut: dns.name.Name) -> None:
        zone = self.zone
        servers = zone.rrset(cut, RdataType.NS, signed=False)
        self._add("authority", servers)
        if self.signed:
            ds = zone.rrset(cut, RdataType.DS, signed=True)
            self._add("authority", ds or zone.proof_of_no_type(cut))
        for server in servers[0]:
            self._add("additional", zone.rrset(server.target, RdataType.A, signed=False))

    def _deny(self, proof: list[dns.rrset.RRset]) -> None:
        soa = self.zone.rrset(self.zone.origin, RdataType.SOA, signed=self.signed)
        for rrset in soa:
            # How long the denial may be kept (RFC 2308 section 3).
            rrset.ttl = min(rrset.ttl, soa[0][0].minimum)
        self._add("authority", soa)
        self._add("authority", proof)

    def _add(self, section: str, rrsets: list[dns.rrset.RRset]) -> None:
        there = getattr(self.response, section)
        there.extend(rrset for rrset in rrsets if rrset not in there)


def truncated(response: dns.message.Message, limit: int) -> bytes:
    """Give the response for UDP: where it is longer than `limit` octets, TC and no records (RFC 2181 section 9)."""
    wire = response.to_wire(max_size=65_535)
    if len(wire) <= limit:
        return wire
    short = dns.message.Message(response.id)
    short.flags = response.flags | dns.flags.TC
    short.question = response.question
    if response.edns >= 0:
        short.use_edns(response.edns, response.ednsflags, response.payload)
    short.set_rcode(response.rcode())
    return short.to_wire()


def udp_limit(query: dns.message.Message) -> int:
    """Give how long a response by UDP may be."""
    return 512 if query.edns < 0 else max(512, min(query.payload, SERVER_PAYLOAD))
