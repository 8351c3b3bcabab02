"""The matrix of faults, items and servers: docs/reference/matrix.json, and the page that is made of it.

`python tools/matrix_page.py FILE` takes over what the tests have kept in FILE (DNSRIG_MATRIX, CONTRIBUTING.md);
`tools/write_reference.py` writes the page.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dnsrig.items.catalogue import all_items
from dnsrig.verification.item import ROLES

RECORD = Path(__file__).parent.parent / "docs" / "reference" / "matrix.json"
WITHOUT = "none"
"""The name of no fault."""


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """The items that failed with a fault before a server, in a part of the matrix where a role has several.

    `fails` is None where the fault cannot be put before the server, or not be seen there; `passes` has the items that
    the server passes without fault.
    """

    role: str
    part: str
    server: str
    version: str
    fault: str
    fails: tuple[str, ...] | None
    passes: tuple[str, ...]


def read(text: str) -> list[Cell]:
    """Read cells, one a line; of those of the same fault before the same server the last one counts.

    What a server passes is put together, as not all items are run in one go.
    """
    found: dict[tuple[str, ...], Cell] = {}
    for line in text.splitlines():
        members = json.loads(line)
        fails = None if members["fails"] is None else tuple(members["fails"])
        cell = Cell(**members | {"fails": fails, "passes": tuple(members["passes"])})
        key = cell.role, cell.part, cell.server, cell.fault
        if key in found and found[key].version == cell.version:
            passes = {*found[key].passes, *cell.passes} - {*(fails or ())}
            cell = replace(cell, passes=tuple(sorted(passes)))
        found[key] = cell
    return [found[key] for key in sorted(found)]


def passed_by() -> dict[str, list[str]]:
    """Give the servers, with their versions, that pass an item without fault, by item; where they fail it nowhere."""
    cells = [cell for cell in read(RECORD.read_text(encoding="utf-8")) if cell.fault == WITHOUT]
    failing = {(cell.role, cell.server, item) for cell in cells for item in cell.fails or ()}
    found: defaultdict[str, list[str]] = defaultdict(list)
    for cell in cells:
        server = f"{cell.server} {cell.version}".strip()
        for item in cell.passes:
            if (cell.role, cell.server, item) not in failing and server not in found[item]:
                found[item].append(server)
    return found


def matrix_page(note: str) -> str:
    """Give the page: for each role a table with a row for each fault and a column for each server."""
    cells = read(RECORD.read_text(encoding="utf-8"))
    parts = [
        f"# Faults, items and servers\n\n{note}Which servers each [fault](faults.md) was put before when the matrix "
        "was last recorded, and what failed. `all`: exactly the items that name the fault. `but`: the items that name "
        "the fault and cannot show it there, such as where the server has not what they are about. `also`: items that "
        "hold there by TCP alone without the fault, and fail with it. `-`: cannot be put before that server or not be "
        "seen there, such as where it has not what the fault is about. Empty: not tried. "
        "Before Knot Resolver and PowerDNS Recursor, which do not answer a name the same way each time, the items that "
        "name the fault are run alone; what a resolver does wrong towards the servers that it asks is tried "
        "with weak resolvers alone. Without fault, only "
        "[known deviations](deviations.md) fail; with a fault they are left out here."
    ]
    for role in ROLES:
        for part in sorted({cell.part for cell in cells if cell.role == role}):
            chosen = [cell for cell in cells if (cell.role, cell.part) == (role, part)]
            title = f"{role}, {part}" if part else role
            parts.append(f"## {title}\n\n{_table(role, chosen)}")
    return "\n\n".join(parts) + "\n"


def _table(role: str, cells: Sequence[Cell]) -> str:
    versions = {cell.server: cell.version for cell in cells}
    by_place = {(cell.fault, cell.server): cell.fails for cell in cells}
    without = {server: {*(by_place.get((WITHOUT, server)) or ())} for server in versions}
    faults = sorted({cell.fault for cell in cells} - {WITHOUT})
    head = " | ".join(f"{server} {version}".strip() for server, version in versions.items())
    rows = [f"| fault | {head} |", "|---" * (len(versions) + 1) + "|"]
    known = [", ".join(sorted(without[server])) or "none" for server in versions]
    rows.append(f"| without | {' | '.join(known)} |")
    for fault in faults:
        named = _named(role, fault)
        said = [
            _said(named, by_place[fault, server], without[server]) if (fault, server) in by_place else ""
            for server in versions
        ]
        rows.append(f"| `{fault}` | {' | '.join(said)} |")
    return "\n".join(rows)


def _said(named: set[str], fails: Iterable[str] | None, without: set[str]) -> str:
    if fails is None:
        return "-"
    failed = set(fails)
    missing, others = named - failed, failed - named - without
    if named and missing == named and not others:
        return f"none of {_listed(named)}"
    said = "all" if not missing else f"but {_listed(missing)}"
    return f"{said}; also {_listed(others)}" if others else said


def _named(role: str, fault: str) -> set[str]:
    return {known.item.id for known in all_items() if known.item.role == role and fault in known.item.faults}


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(sorted(ids))


def take_over(lines: str) -> None:
    """Put new cells in the place of those of the same fault before the same server, and write the record."""
    before = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    cells: Sequence[Cell] = read(f"{before}{lines}")
    RECORD.write_text("".join(f"{json.dumps(_members(cell))}\n" for cell in cells), encoding="utf-8")


def _members(cell: Cell) -> Mapping[str, object]:
    return asdict(cell)


if __name__ == "__main__":
    take_over(Path(sys.argv[1]).read_text(encoding="utf-8"))
