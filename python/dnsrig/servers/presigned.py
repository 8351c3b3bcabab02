"""What a server must be told about a signed zone that does not look into the zone file itself."""

import mmap
import re
from dataclasses import dataclass
from pathlib import Path

NSEC3PARAM = re.compile(rb"\bNSEC3PARAM[\s(]+1\s+\d{1,3}\s+(\d{1,5})\s+(-|(?:[0-9A-Fa-f]{2})+)[\s;)]", re.IGNORECASE)
"""An NSEC3PARAM record's type and data (RFC 5155 section 4.3), with iterations and salt.

Hash algorithm 1 tells it from a signature over NSEC3PARAM: RSA/MD5, algorithm 1, must not sign zones.
"""
NSEC3_OPT_OUT = re.compile(rb"\bNSEC3[\s(]+1\s+1\s+\d{1,5}\s", re.IGNORECASE)
SOA_SIGNATURE = re.compile(rb"\bRRSIG[\s(]+SOA\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Nsec3Parameters:
    """The parameters of a zone's NSEC3 chain."""

    iterations: int
    salt: str
    """Hexadecimal, or "-" for none."""
    opt_out: bool
    """Whether an NSEC3 record has the Opt-Out flag (RFC 5155 section 6); NSEC3PARAM itself never has it."""


@dataclass(frozen=True, slots=True)
class Signing:
    """How a zone is signed; `nsec3` is None for a zone with NSEC, and for an unsigned one."""

    signed: bool
    nsec3: Nsec3Parameters | None


def signing_of(path: Path) -> Signing:
    """Find out from a zone file whether and how the zone is signed.

    The file is searched, not parsed: a signed zone of any size takes no noticeable time. Records in generic
    notation (RFC 3597, `TYPE51`) and in included files are not found.
    """
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return Signing(False, None)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            if not SOA_SIGNATURE.search(text):
                return Signing(False, None)
            found = NSEC3PARAM.search(text)
            if found is None:
                return Signing(True, None)
            opt_out = NSEC3_OPT_OUT.search(text) is not None
            return Signing(True, Nsec3Parameters(int(found[1]), found[2].decode(), opt_out))
