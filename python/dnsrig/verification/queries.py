"""Queries as items ask them: every field of the header and of EDNS can be set."""

from collections.abc import Sequence
from dataclasses import dataclass

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

USUAL_PAYLOAD = 1232
"""UDP payload size of queries where an item asks for none: that of the DNS flag day 2020."""
Z_BIT = 0x0040
"""The header's last reserved bit (RFC 1035 section 4.1.1; RFC 4035 took the others for AD and CD)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question with its flags; `payload` None is without EDNS."""

    name: dns.name.Name
    rtype: dns.rdatatype.RdataType
    rdclass: dns.rdataclass.RdataClass = dns.rdataclass.IN
    opcode: dns.opcode.Opcode = dns.opcode.QUERY
    qr: bool = False
    """Set only in responses, so a message with it is no query."""
    aa: bool = False
    rd: bool = False
    ad: bool = False
    cd: bool = False
    z: bool = False
    do: bool = False
    payload: int | None = USUAL_PAYLOAD
    edns_version: int = 0
    edns_flags: int = 0
    """EDNS flags besides DO."""
    options: tuple[dns.edns.Option, ...] = ()

    def wire(self, message_id: int) -> bytes:
        """Give the message."""
        message = dns.message.QueryMessage(id=message_id)
        flags = dns.opcode.to_flags(self.opcode)
        for is_set, flag in (
            (self.qr, dns.flags.QR),
            (self.aa, dns.flags.AA),
            (self.rd, dns.flags.RD),
            (self.ad, dns.flags.AD),
            (self.cd, dns.flags.CD),
        ):
            flags |= flag if is_set else 0
        message.flags = flags | (Z_BIT if self.z else 0)
        message.question.append(dns.rrset.RRset(self.name, self.rdclass, self.rtype))
        if self.payload is not None:
            edns_flags = self.edns_flags | (dns.flags.DO if self.do else 0)
            message.use_edns(self.edns_version, edns_flags, self.payload, options=list(self.options))
        return message.to_wire()

    def dig_options(self) -> Sequence[str]:
        """Give the options by which dig asks the same."""
        found = [] if self.rd else ["+norec"]
        settable = ((self.aa, "+aaflag"), (self.ad, "+ad"), (self.cd, "+cd"), (self.z, "+zflag"))
        found += [word for is_set, word in settable if is_set]
        if not self.ad:
            found.append("+noad")
        if self.opcode != dns.opcode.QUERY:
            found.append(f"+opcode={dns.opcode.to_text(self.opcode).lower()}")
        if self.payload is None:
            return [*found, "+noedns"]
        found += ["+dnssec"] if self.do else []
        found.append(f"+bufsize={self.payload}")
        found.append("+nocookie")
        if self.edns_version:
            found += [f"+edns={self.edns_version}", "+noednsneg"]
        if self.edns_flags:
            found.append(f"+ednsflags={self.edns_flags:#x}")
        found += [f"+ednsopt={int(option.otype)}:{(option.to_wire() or b'').hex()}" for option in self.options]
        return found

    def dig_words(self) -> Sequence[str]:
        """Give name, class and type as dig takes them."""
        rdclass = dns.rdataclass.to_text(self.rdclass)
        named = [] if self.rdclass == dns.rdataclass.IN else ["-c", rdclass]
        return [*named, "-q", self.name.to_text(), "-t", dns.rdatatype.to_text(self.rtype)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftedMessage(Query):
    """A message that is sent as it is, such as one with two questions; the fields of `Query` say what it is about."""

    after_id: bytes
    """The message behind its ID."""

    def wire(self, message_id: int) -> bytes:
        """Give the message."""
        return message_id.to_bytes(2) + self.after_id

    def dig_options(self) -> Sequence[str]:
        """Give the options of the query that is most like it: dig sends no such message."""
        # Not super(): a dataclass with slots is another class than the one that the method was defined in.
        return [*Query.dig_options(self), "+qr"]
