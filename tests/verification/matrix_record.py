"""Keeps what the matrices found, for docs/reference/matrix.md, where DNSRIG_MATRIX names a file (CONTRIBUTING.md)."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from dnsrig.verification.item import Role


def keep(role: Role, fault: str, server: tuple[str, str], failed: Iterable[str], zone: str = "") -> None:
    """Add a line to the file: which items failed with a fault before a server, given by name and version.

    What is kept of a fault and a server later counts; `tools/matrix_page.py` puts the lines together.
    """
    path = os.environ.get("DNSRIG_MATRIX")
    if path:
        name, version = server
        cell = {
            "role": role,
            "zone": zone,
            "fault": fault,
            "server": name,
            "version": version,
            "fails": sorted(failed),
        }
        # Tests run in several processes: one short write goes to the end whole.
        with Path(path).open("a", encoding="utf-8", buffering=1) as file:
            file.write(json.dumps(cell) + "\n")
