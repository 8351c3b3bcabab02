"""The times in BIND's key files, changed without touching what else the files have."""

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dnsrig import _core
from dnsrig.dates import date_digits, date_s
from dnsrig.errors import EnvironmentLacksError, InputError

EVENTS = (
    "Created",
    "Publish",
    "Activate",
    "Revoke",
    "Inactive",
    "Delete",
    "DSPublish",
    "SyncPublish",
    "SyncDelete",
)
"""What key files have times of, by BIND's names and in its order."""

_KEY_NAME = re.compile(r"K.+\+[0-9]{3}\+[0-9]{5}")
_EVENT = "|".join(EVENTS)
_COMMENT = re.compile(rf";\s*({_EVENT})\s*:\s*([0-9]{{14}})\b.*\n?".encode())
_FIELD = re.compile(rf"\s*({_EVENT})\s*:\s*([0-9]{{14}})\b.*\n?".encode())
_FORMAT = re.compile(rb"(Private-key-format:\s*v1\.)([23])\b")
_FLAGS = re.compile(rb"\bDNSKEY\s+\(?\s*([0-9]{1,5})\b", re.IGNORECASE)
SEP_FLAG = 0x0001
"""Of key-signing keys (RFC 4034 section 2.1.1)."""
REVOKE_FLAG = 0x0080
"""Of keys that are not to be trusted any more (RFC 5011 section 7)."""


@dataclass(frozen=True, slots=True)
class KeyFiles:
    """A key's pair of files, and the times that they have, in seconds since 1970."""

    public: Path
    private: Path
    flags: int
    timing: dict[str, int]

    @property
    def name(self) -> str:
        """The files' common name, without suffix."""
        return self.public.name.removesuffix(".key")

    @property
    def is_ksk(self) -> bool:
        """Whether the key has the SEP flag."""
        return self.flags & SEP_FLAG != 0


def stem_of(path: Path) -> Path:
    """Give the path of a key without suffix; `path` may have that of either file."""
    return path.with_name(path.name.removesuffix(".key").removesuffix(".private"))


def is_key_name(path: Path) -> bool:
    """Whether `path` is named as a key is."""
    return _KEY_NAME.fullmatch(stem_of(path).name) is not None


def located(path: Path, folder: Path | None) -> Path:
    """Give the path, without suffix, of the key `path`: in `folder` if it is there, else as it is."""
    stem = stem_of(path)
    if folder is None or path.is_absolute():
        return stem
    there = folder / stem
    return there if any(there.with_name(f"{there.name}{end}").exists() for end in (".key", ".private")) else stem


def key_flags(public: Path) -> int:
    """Give the flags of the DNSKEY record in the file `public`."""
    found = _FLAGS.search(b"\n".join(line for line in public.read_bytes().splitlines() if not line.startswith(b";")))
    return int(found[1]) if found else 0


def read_pair(stem: Path) -> KeyFiles:
    """Read the times of the key `stem` as signing does: the private file's, or if it has none, the public one's.

    A key in a token is not opened. Raises InputError where one of the files is missing, or is none of a key.
    """
    public, private = (stem.with_name(f"{stem.name}{end}") for end in (".key", ".private"))
    if not public.exists() and not private.exists():
        raise InputError(f"{stem}: no such key; give the name that keygen prints, and its folder by -K")
    for file, other in ((public, private), (private, public)):
        if not file.exists():
            raise InputError(f"{file}: missing, though {other.name} is there; restore it")
        if not file.is_file():
            # A FIFO would be waited for.
            raise InputError(f"{file}: cannot read the key file: it is not a regular file")
    # This says what is wrong with the record.
    _core.ds_records(public, ["2"])
    text = private.read_bytes()
    if _FORMAT.match(text) is None:
        raise InputError(f"{private}:1: not a private key in BIND's format v1.2 or v1.3")
    timing = _times_in(private, text, _FIELD) or _times_in(public, public.read_bytes(), _COMMENT)
    return KeyFiles(public, private, key_flags(public), timing)


def changed(timing: Mapping[str, int], changes: Mapping[str, int | None], now_s: int) -> dict[str, int]:
    """Give `timing` with `changes`, of which None takes a time away, at `now_s`, in seconds since 1970.

    A key whose last time is taken away gets that of its creation, as far as known: without any it would be in use.
    """
    merged = {**timing, **changes}
    left = {event: at for event in EVENTS if (at := merged.get(event)) is not None}
    return left if left or not timing else {"Created": min(now_s, *timing.values())}


def write_times(files: KeyFiles, timing: Mapping[str, int]) -> None:
    """Write `timing` into both files: each is written beside the old one, and then takes its name.

    The private file comes last, since its times are the ones that count. Permissions and owners stay. Raises
    EnvironmentLacksError where one of them cannot be replaced; then both are as they were.
    """
    comments = [f"; {event}: {date_digits(at)} ({time.asctime(time.gmtime(at))})\n" for event, at in timing.items()]
    fields = [f"{event}: {date_digits(at)}\n" for event, at in timing.items()]
    # Links stay links.
    public, private = files.public.resolve(), files.private.resolve()
    old_public = public.read_bytes()
    new_public = _with_lines(old_public, _COMMENT, comments, before_record=True)
    new_private = _with_lines(private.read_bytes(), _FIELD, fields, before_record=False)
    at_work = files.public
    with contextlib.ExitStack() as beside:
        try:
            public_beside = _write_beside(public, new_public, beside)
            # Beforehand, as there may be no room for it later.
            old_public_beside = _write_beside(public, old_public, beside)
            at_work = files.private
            # Times came with v1.3.
            private_beside = _write_beside(private, _FORMAT.sub(rb"\g<1>3", new_private, count=1), beside)
            at_work = files.public
            public_beside.replace(public)
            at_work = files.private
            try:
                private_beside.replace(private)
            except OSError:
                old_public_beside.replace(public)
                raise
        except OSError as error:
            raise EnvironmentLacksError(
                f"{at_work}: cannot be replaced: {error.strerror}; the key has the times that it had"
            ) from error
    for folder in dict.fromkeys((public.parent, private.parent)):
        _sync_folder(folder)


def _times_in(file: Path, text: bytes, pattern: re.Pattern[bytes]) -> dict[str, int]:
    found = {}
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        parts = pattern.fullmatch(line)
        if parts is None:
            continue
        try:
            found[parts[1].decode()] = date_s(parts[2].decode())
        except ValueError as error:
            raise InputError(f"{file}:{number}: {parts[1].decode()} is not a time (YYYYMMDDHHMMSS)") from error
    return {event: found[event] for event in EVENTS if event in found}


def _with_lines(text: bytes, pattern: re.Pattern[bytes], lines: list[str], *, before_record: bool) -> bytes:
    """Put `lines` where the first line of `pattern` is, in place of all of these.

    Without such a line they come before the record, or else at the end.
    """
    old = text.splitlines(keepends=True)
    kept = [line for line in old if pattern.fullmatch(line) is None]
    at = next((index for index, line in enumerate(old) if pattern.fullmatch(line)), None)
    if at is None:
        is_record = (index for index, line in enumerate(kept) if before_record and not line.startswith(b";"))
        at = next(is_record, len(kept))
    head = b"".join(kept[:at])
    if head and not head.endswith(b"\n"):
        head += b"\n"
    return head + "".join(lines).encode() + b"".join(kept[at:])


def _write_beside(target: Path, text: bytes, beside: contextlib.ExitStack) -> Path:
    """Write a file that can take the name of `target`, and goes with `beside` if it does not."""
    status = target.stat()
    descriptor, name = tempfile.mkstemp(prefix=".dnsrig-", dir=target.parent)
    path = Path(name)
    beside.callback(path.unlink, missing_ok=True)
    with os.fdopen(descriptor, "wb") as file:
        mode = status.st_mode & 0o777
        try:
            os.fchown(file.fileno(), status.st_uid, status.st_gid)
        except PermissionError:
            # The group would be another one.
            mode &= 0o707 if target.suffix == ".key" else 0o700
        os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return path


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
