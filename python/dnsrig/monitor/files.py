"""Files below /proc that stay open and are read again and again."""

import os
from pathlib import Path

_CHUNK = 65536


class KeptFile:
    """One file below /proc, opened once and read from its beginning each time."""

    def __init__(self, path: Path) -> None:
        """Open `path`. Raises OSError where it is missing or may not be read."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """Return the whole text as it is now. Raises OSError (ESRCH) once the process is gone."""
        text = os.pread(self._descriptor, _CHUNK, 0)
        if len(text) < _CHUNK:
            return text
        parts = [text]
        while part := os.pread(self._descriptor, _CHUNK, sum(map(len, parts))):
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)


def open_kept(path: Path) -> KeptFile | None:
    """Open `path`; None where it is missing or may not be read."""
    try:
        return KeptFile(path)
    except OSError:
        return None
