"""Reading small files that the user names: trust anchors, DS records, rules."""

import os
import stat
from pathlib import Path

from dnsrig.errors import InputError

LARGEST_OCTETS = 16 << 20
"""Far more than any such file has; what never ends, or fills the memory, is refused."""


def read_given_text(option: str, path: Path, wanted: str) -> str:
    """Read the UTF-8 text of a file or FIFO; `wanted` says what to give, such as `give DS records`.

    Raises:
        InputError: it is neither, cannot be read, has more than LARGEST_OCTETS, or is no text.

    """
    try:
        mode = path.stat().st_mode
        # Not opened before: opening alone makes some devices do something.
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{option} {path}: it is no plain file; {wanted}")
        with path.open("rb") as file:
            data = file.read(LARGEST_OCTETS + 1)
    except OSError as error:
        raise InputError(f"{option} {path}: {_said(error)}") from error
    if len(data) > LARGEST_OCTETS:
        raise InputError(f"{option} {path}: it has more than {LARGEST_OCTETS >> 20} MiB; {wanted}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{option} {path}: it is no text; {wanted}") from error


def require_plain_file(option: str, path: Path) -> None:
    """Refuse what can be read only once, or never ends.

    Raises:
        InputError: it is no plain file, or cannot be looked at.

    """
    try:
        is_plain = stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        raise InputError(f"{option} {path}: {_said(error)}") from error
    if not is_plain:
        raise InputError(f"{option} {path}: it is no plain file; give one, as it is read more than once")


def _said(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)
