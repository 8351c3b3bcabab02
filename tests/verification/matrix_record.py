"""Keeps what the matrices found, for docs/reference/matrix.md, where DNSRIG_MATRIX names a file (CONTRIBUTING.md)."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

from dnsrig.verification.faults.relay import NO_FAULT
from dnsrig.verification.item import Role
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Verdict

RECORD = Path(__file__).parents[2] / "docs" / "reference" / "matrix.json"
WITH_FAULTS = "zones with faults"
WEAK = "weak resolvers"
ANCHORS = "trust anchors that change"
WEAK_ANCHORS = "trust anchors that change, weak resolvers"
SECONDARIES = "secondaries"
"""Parts of the matrix beside those that are named after zones; a role with but one part has no name for it."""


def keep(role: Role, fault: str, server: tuple[str, str], failed: Iterable[str], part: str = "") -> None:
    """Add a line to the file: which items failed with a fault before a server, given by name and version.

    What is kept of a fault and a server later counts; `tools/matrix_page.py` puts the lines together.
    """
    _write(role, fault, server, part, {"fails": sorted(failed), "passes": []})


def keep_right(
    role: Role, server: tuple[str, str], failed: Iterable[str], passed: Iterable[str], part: str = ""
) -> None:
    """Add a line to the file: which items failed and which passed before a server without fault."""
    _write(role, NO_FAULT.name, server, part, {"fails": sorted(failed), "passes": sorted(passed)})


def passed_of(results: Iterable[Result]) -> set[str]:
    """Give the items that passed, be it by TCP."""
    return {one.item.id for one in results if one.outcome.verdict in {Verdict.PASS, Verdict.PASS_BY_TCP}}


def keep_unable(role: Role, fault: str, server: tuple[str, str], part: str = "") -> None:
    """Add a line to the file: a fault that cannot be put before a server, or not be seen there."""
    _write(role, fault, server, part, {"fails": None, "passes": []})


def _write(role: Role, fault: str, server: tuple[str, str], part: str, found: Mapping[str, list[str] | None]) -> None:
    path = os.environ.get("DNSRIG_MATRIX")
    if path:
        name, version = server
        cell = {"role": role, "part": part, "server": name, "version": version, "fault": fault, **found}
        # Tests run in several processes: one short write goes to the end whole.
        with Path(path).open("a", encoding="utf-8", buffering=1) as file:
            file.write(json.dumps(cell) + "\n")


@cache
def cells() -> Sequence[Mapping[str, Any]]:
    """Give the cells of the record (see tools/matrix_page.py)."""
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


@cache
def recorded() -> Set[tuple[str, str, str, str, str]]:
    """Give the role, part, server, version and fault of what the record has."""
    return {(one["role"], one["part"], one["server"], one["version"], one["fault"]) for one in cells()}
