"""The files that a zone file includes, looked at before it is read: readers open whatever is named."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from dnsrig.errors import InputError
from dnsrig.given_files import require_plain_file

_INCLUDE = re.compile(rb'\$INCLUDE[ \t]+(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s;"]+))', re.IGNORECASE)

_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_BEFORE_CONTROL = re.compile(
    rb'(?P<before>(?:[^";\\%b]|\\[^%b]|"(?:[^"\\%b]|\\[^%b])*+"?)*+)(?P<octet>[%b])'.replace(
        b"%b", re.escape(_CONTROLS)
    )
)
"""A control octet in a line, but for what is in its comment."""
_GENERATE = re.compile(rb"\$GENERATE[ \t]+(?P<first>\d+)-(?P<last>\d+)(?:/(?P<step>\d+))?", re.IGNORECASE)
MOST_GENERATED = 1_000_000
"""Records of $GENERATE, which is BIND's: more would be held in memory before anything is asked."""


def check_zone_file(option: str, path: Path) -> None:
    """Look at a zone file and at what it includes (RFC 1035 section 5.1), once through, before it is read.

    What is missing is left to the reader.

    Raises:
        InputError: a file includes itself, or they generate more than MOST_GENERATED records, so that reading does not
            end; or one is a device, a FIFO or a folder, or has control octets, which is for no zone file in text form.

    """
    require_plain_file(option, path)
    generated = 0
    seen: set[str] = set()
    # Files within each other, each with the directives that were not looked at yet.
    open_files = {os.path.realpath(path): _directives(path, option)}
    while open_files:
        inmost = next(reversed(open_files))
        included = next(open_files[inmost], None)
        if included is None:
            del open_files[inmost]
            seen.add(inmost)
            continue
        if isinstance(included, int):
            generated += included
            if generated > MOST_GENERATED:
                raise InputError(
                    f"{option} {path}: $GENERATE makes {generated:,} records in it, and no more than "
                    f"{MOST_GENERATED:,} are taken; give a part of the zone"
                )
            continue
        place = os.path.realpath(included)
        if place in open_files:
            raise InputError(
                f"{option} {path}: {included} is included while it is being read, which would never end; remove that "
                "$INCLUDE"
            )
        if place not in seen and os.path.lexists(place):
            require_plain_file(f"{option} {path}: $INCLUDE", included)
            open_files[place] = _directives(included, f"{option} {path}:")


def _directives(path: Path, said_before: str) -> Iterator[Path | int]:
    """Give the files that one includes, and how many records each $GENERATE makes.

    Files are looked for relative to its folder, as `zone_reading` and the rig's own reader have it.

    Raises:
        InputError: there are control octets, which that reader refuses, and dnspython takes for data.

    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                # Lines without any are told at once.
                if len(line.translate(None, _CONTROLS)) < len(line) and (found := _BEFORE_CONTROL.match(line)):
                    place = f"{path}:{number}:{found.end('before') + 1}"
                    raise InputError(
                        f"{said_before} {place}: control octet {found['octet'][0]} in the text; write it as an escape "
                        "of three decimal digits, or check that this is a zone file in text form"
                    )
                if found := _INCLUDE.match(line):
                    name = os.fsdecode(found["quoted"] or found["plain"] or b"")
                    yield path.parent / name
                elif found := _GENERATE.match(line):
                    first, last, step = int(found["first"]), int(found["last"]), int(found["step"] or 1)
                    yield max(last - first, 0) // max(step, 1) + 1
    except OSError:
        return
