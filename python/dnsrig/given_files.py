"""Reading small files that the user names: trust anchors, DS records, rules."""

import os
import re
import select
import stat
from pathlib import Path

from dnsrig.errors import InputError

LARGEST_OCTETS = 16 << 20
"""Far more than any such file has; what never ends, or fills the memory, is refused."""

FIFO_WAIT_S = 5.0
"""How long a FIFO may give nothing: one that a shell's `<(...)` makes is written to at once."""
KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISFIFO, "a FIFO"),
)

PLACED = re.compile(r".*?:(?P<line>\d+): (?P<said>.*)", re.DOTALL)
"""What dnspython says of a text: behind the name that the file has there, or that the text was given."""


def read_given_text(option: str, path: Path, wanted: str) -> str:
    """Read the UTF-8 text of a file or FIFO; `wanted` says what to give, such as `give DS records`.

    Raises:
        InputError: it is neither, cannot be read, has more than LARGEST_OCTETS, or is no text; or it is a FIFO into
            which nobody writes.

    """
    try:
        mode = path.stat().st_mode
        # Not opened before: opening alone makes some devices do something.
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{option} {path}: it is {_kind(mode)}, no plain file; {wanted}")
        data = _read_fifo(option, path, wanted) if stat.S_ISFIFO(mode) else _read_plain(path)
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
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{option} {path}: {_said(error)}") from error
    if not stat.S_ISREG(mode):
        raise InputError(f"{option} {path}: it is {_kind(mode)}, no plain file; give one, as it is read more than once")


def _kind(mode: int) -> str:
    return next((kind for is_such, kind in KINDS if is_such(mode)), "something else")


def _read_plain(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_OCTETS + 1)


def _read_fifo(option: str, path: Path, wanted: str) -> bytes:
    """Read what is written into a FIFO until its writers have closed it, without waiting for ever for one."""
    data = bytearray()
    # A plain open() waits for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        events = select.poll()
        events.register(descriptor, select.POLLIN)
        while len(data) <= LARGEST_OCTETS:
            # Before the first octet, "no writer" may also mean that none has come yet.
            if not data and not events.poll(FIFO_WAIT_S * 1e3):
                raise _unwritten(option, path, wanted)
            try:
                part = os.read(descriptor, LARGEST_OCTETS + 1 - len(data))
            except BlockingIOError:
                if not events.poll(FIFO_WAIT_S * 1e3):
                    raise _unwritten(option, path, wanted) from None
                continue
            if not part:
                break
            data += part
    finally:
        os.close(descriptor)
    return bytes(data)


def _unwritten(option: str, path: Path, wanted: str) -> InputError:
    said = f"it is a FIFO into which nobody has written for {FIFO_WAIT_S:g} s, while it was open"
    return InputError(f"{option} {path}: {said}; {wanted}")


def _said(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def said_of_text(error: Exception) -> str:
    """Give what dnspython says of a text in presentation format, with the line and without the file's name."""
    placed = PLACED.fullmatch(str(error))
    return str(error) if placed is None else f"line {placed['line']}: {placed['said']}"
