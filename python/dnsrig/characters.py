"""Characters that no report or message holds as they are: they command a terminal, turn text round, or are in no file.

Names of files and what is typed may have them, and servers put text into EDNS options (RFC 8914 section 2).
"""

import re

_ODD = re.compile(
    r"[^\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
"""What XML 1.0 cannot hold, even escaped, and other controls (C0, DEL, C1); and what sets the direction of text."""


def plain(text: str) -> str:
    r"""Show such characters by their numbers, `\x1b` or `\u202e`; octets that are no UTF-8 (surrogates) as `\xff`."""
    return _ODD.sub(lambda found: _shown(ord(found[0])), text)


def _shown(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:
        # How Python holds an octet of the command line, or of a file's name, that is no UTF-8 (PEP 383).
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
