"""What signatures a signed zone file has, whichever program wrote it."""

import mmap
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_RRSIG = re.compile(rb"\bRRSIG\s+[A-Z0-9]+\s+\d+\s+\d+\s+\d+\s+\(?\s*(\d{14})\b")
"""Type covered, algorithm, labels, original TTL, expiration (RFC 4034 section 3.2), on one line or several."""


@dataclass(frozen=True, slots=True)
class Signatures:
    """Signatures by their expiration, as YYYYMMDDHHMMSS in UTC."""

    by_expiration: Counter[str]

    @property
    def count(self) -> int:
        """All of them."""
        return self.by_expiration.total()

    def expiring_after(self, date: str) -> int:
        """Count those that expire later than `date`."""
        return sum(count for expiration, count in self.by_expiration.items() if expiration > date)


def read_signatures(path: Path) -> Signatures:
    """Count the RRSIG records of a zone file."""
    if path.stat().st_size == 0:
        return Signatures(Counter())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return Signatures(Counter(match[1].decode("ascii") for match in _RRSIG.finditer(text)))
