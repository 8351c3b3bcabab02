"""SVCB and HTTPS records of alias mode that have parameters: dnspython takes none, but recipients ignore these.

RFC 9460 section 2.4.2: "In AliasMode, recipients MUST ignore any SvcParams that are present." They are kept here, so
that records can be compared. Importing this module has dnspython read such records.
"""

from typing import Any, Self

import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.IN.HTTPS
import dns.rdtypes.IN.SVCB
import dns.tokenizer
import dns.wire
from dns.rdtypes.svcbbase import SVCBBase

ALIAS = 0
"""The priority that makes alias mode."""
SERVICE_AT_ROOT = b"\0\1\0"
"""The beginning of the data of a record of service mode: a priority, and a name."""


class _ReadsAliases(SVCBBase):
    """Reads a record of alias mode as if it were of service mode, and then gives it its priority and name."""

    @classmethod
    def from_wire_parser(
        cls,
        rdclass: dns.rdataclass.RdataClass,
        rdtype: dns.rdatatype.RdataType,
        parser: dns.wire.Parser,
        origin: dns.name.Name | None = None,
    ) -> Self:
        """Read the data of a record from a message."""
        began = parser.current
        priority, target = parser.get_uint16(), parser.get_name(origin)
        if priority != ALIAS or not parser.remaining():
            parser.seek(began)
            return super().from_wire_parser(rdclass, rdtype, parser, origin)
        service = dns.wire.Parser(SERVICE_AT_ROOT + parser.get_remaining())
        params = super().from_wire_parser(rdclass, rdtype, service, origin).params
        return cls(rdclass, rdtype, ALIAS, target, params)

    @classmethod
    def from_text(  # noqa: PLR0917 (as dnspython calls it)
        cls,
        rdclass: dns.rdataclass.RdataClass,
        rdtype: dns.rdatatype.RdataType,
        tok: dns.tokenizer.Tokenizer,
        origin: dns.name.Name | None = None,
        relativize: bool = True,
        relativize_to: dns.name.Name | None = None,
    ) -> Self:
        """Read the data of a record in presentation format."""
        first = tok.get()
        tok.unget(first)
        if first.value != str(ALIAS):
            return super().from_text(rdclass, rdtype, tok, origin, relativize, relativize_to)
        tok.get()
        target = tok.get_name(origin, relativize, relativize_to)
        words = "1 ."
        for token in tok.get_remaining():
            words += f'"{token.value}"' if token.is_quoted_string() else f" {token.value}"
        service = super().from_text(rdclass, rdtype, dns.tokenizer.Tokenizer(words), origin)
        return cls(rdclass, rdtype, ALIAS, target, service.params)


class _HTTPS(_ReadsAliases, dns.rdtypes.IN.HTTPS.HTTPS):
    pass


class _SVCB(_ReadsAliases, dns.rdtypes.IN.SVCB.SVCB):
    pass


def _read_them() -> None:
    known: dict[Any, Any] = dns.rdata._rdata_classes
    known[dns.rdataclass.IN, dns.rdatatype.HTTPS] = _HTTPS
    known[dns.rdataclass.IN, dns.rdatatype.SVCB] = _SVCB


_read_them()
