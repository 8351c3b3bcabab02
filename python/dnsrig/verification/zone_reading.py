"""Reading a zone file into dnspython's zone, with included files from where the rig's own reader takes them."""

import os
from pathlib import Path
from typing import Any

import dns.name
import dns.rdataclass
import dns.tokenizer
import dns.zone
import dns.zonefile

INCLUDED_FROM = "files of $INCLUDE are looked for from the folder of the file that names them"


def read_zone(path: Path, origin: dns.name.Name) -> dns.zone.Zone:
    """Read a zone file; a file that one includes (RFC 1035 section 5.1) is looked for from the folder of that one.

    dnspython alone looks from where the command was called, so that it might read another than the rig's own reader.

    Raises:
        OSError: a file cannot be read.
        UnicodeDecodeError: one is no text.
        DNSException: it is no zone file; ValueError: the same.

    """
    zone = dns.zone.Zone(origin, relativize=False)
    with path.open(encoding="utf-8") as file, zone.writer(True) as changes:
        _Reader(_Tokenizer(file, str(path)), dns.rdataclass.IN, changes, allow_include=True).read()
    return zone


class _Tokenizer(dns.tokenizer.Tokenizer):
    """Gives the names of included files with the folder of the file that includes them."""

    _names_file = False

    def get(self, want_leading: bool = False, want_comment: bool = False) -> dns.tokenizer.Token:
        token = super().get(want_leading, want_comment)
        if self._names_file:
            token.value = os.path.join(os.path.dirname(self.filename), token.value)  # noqa: PTH118, PTH120 (text)
        # Leading blanks are wanted at the beginning of a line alone: $INCLUDE is plain text in any other place.
        self._names_file = want_leading and token.is_identifier() and token.value.upper() == "$INCLUDE"
        return token


class _Reader(dns.zonefile.Reader):
    """Reads included files by such tokenizers, too."""

    current_file: Any

    def __setattr__(self, name: str, value: object) -> None:
        if name == "tok" and not isinstance(value, _Tokenizer):
            value = _Tokenizer(self.current_file, getattr(value, "filename"))  # noqa: B009 (of dnspython's tokenizer)
        super().__setattr__(name, value)
