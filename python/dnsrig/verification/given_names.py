"""Domain names as users give them, also with U-labels (RFC 5890)."""

import re

import dns.exception
import dns.name

from dnsrig.errors import InputError
from dnsrig.servers.interruption import raise_interruption

DIFFERING = {"ß": "ß", "ς": "ς", "\N{ZERO WIDTH JOINER}": "U+200D", "\N{ZERO WIDTH NON-JOINER}": "U+200C"}
"""What IDNA 2003 makes another name of than IDNA 2008 (RFC 5894 section 7.2), and how it is shown."""
LONGEST_LABEL = 63
ACE_PREFIX = "xn--"
DOTS = re.compile("[.\u3002\uff0e\uff61]")
"""What separates labels (RFC 3490 section 3.1)."""
GIVE_IT = "give it as the zone file has it (xn--...)"


def name_of(text: str) -> dns.name.Name:
    """Read a domain name; U-labels become A-labels by IDNA 2003.

    Raises:
        InputError: it is none, or it is not certain which A-label is meant.

    """
    if not text.isascii():
        _refuse_uncertain(text)
    try:
        return dns.name.from_text(text, idna_codec=dns.name.IDNA_2003_Practical)
    except (dns.exception.DNSException, UnicodeError) as error:
        raise_interruption(error)
        raise InputError(f"'{_shown(text)}' is no domain name: {_reason(text, error)}") from error


def _refuse_uncertain(text: str) -> None:
    if _shown(text) != text:
        raise InputError(f"'{_shown(text)}' is no domain name: it is not in UTF-8; {GIVE_IT}")
    for sign, shown in DIFFERING.items():
        if sign in text:
            reason = f"{shown} in it makes different names by IDNA 2003 and IDNA 2008"
            raise InputError(f"'{text}': {reason}; {GIVE_IT}")


def _shown(text: str) -> str:
    """Give what can be printed: what was no UTF-8 on the command line is in surrogates."""
    return text.encode(errors="replace").decode()


def _reason(text: str, error: Exception) -> str:
    """Say why it is none: dnspython calls each label too long that IDNA does not take."""
    for label in DOTS.split(text):
        if not label.isascii() and len(ACE_PREFIX) + len(label.encode("punycode")) <= LONGEST_LABEL:
            try:
                dns.name.IDNA_2003_Practical.encode(label)
            except (dns.exception.DNSException, UnicodeError):
                return f"IDNA 2003 has no A-label for '{label}'; {GIVE_IT}"
    return str(error)
