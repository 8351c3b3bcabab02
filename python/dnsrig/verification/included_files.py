"""The files that a zone file includes, looked at before it is read: readers open whatever is named."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from dnsrig.errors import InputError
from dnsrig.given_files import require_plain_file

_INCLUDE = re.compile(rb'\$INCLUDE[ \t]+(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s;"]+))', re.IGNORECASE)

_GENERATE = re.compile(rb"\$GENERATE[ \t]+(?P<first>\d+)-(?P<last>\d+)(?:/(?P<step>\d+))?", re.IGNORECASE)
MOST_GENERATED = 1_000_000
"""Records of $GENERATE, which is BIND's: more would be held in memory before anything is asked."""


def check_generated(option: str, path: Path) -> None:
    """Refuse a zone file that generates so many records that reading it does not end.

    Raises:
        InputError: it does.

    """
    count = 0
    try:
        with path.open("rb") as lines:
            for line in lines:
                if found := _GENERATE.match(line):
                    first, last, step = int(found["first"]), int(found["last"]), int(found["step"] or 1)
                    count += max(last - first, 0) // max(step, 1) + 1
    except OSError:
        return
    if count > MOST_GENERATED:
        raise InputError(
            f"{option} {path}: $GENERATE makes {count:,} records in it, and no more than {MOST_GENERATED:,} are taken; "
            "give a part of the zone"
        )


def check_included(option: str, path: Path) -> None:
    """Look at what a zone file includes (RFC 1035 section 5.1), and at what that does.

    What is missing is left to the reader.

    Raises:
        InputError: a file includes itself, so that reading it never ends; or one is a device, a FIFO or a folder.

    """
    seen: set[str] = set()
    # Files within each other, each with what it includes that was not looked at yet.
    open_files = {os.path.realpath(path): _included(path)}
    while open_files:
        inmost = next(reversed(open_files))
        included = next(open_files[inmost], None)
        if included is None:
            del open_files[inmost]
            seen.add(inmost)
            continue
        place = os.path.realpath(included)
        if place in open_files:
            raise InputError(
                f"{option} {path}: {included} is included while it is being read, which would never end; remove that "
                "$INCLUDE"
            )
        if place not in seen and os.path.lexists(place):
            require_plain_file(f"{option} {path}: $INCLUDE", included)
            open_files[place] = _included(included)


def _included(path: Path) -> Iterator[Path]:
    """Give the files that one names: relative to its folder, as most readers have it, and where dnspython looks."""
    try:
        with path.open("rb") as lines:
            for line in lines:
                if found := _INCLUDE.match(line):
                    name = os.fsdecode(found["quoted"] or found["plain"] or b"")
                    yield from dict.fromkeys((path.parent / name, Path(name)))
    except OSError:
        return
