"""What current servers do otherwise than an item wants, as the rig starts them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dnsrig.verification.item import Role
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.tree.plan import PLANS

PATH = Path(__file__).with_name("deviations.toml")


@dataclass(frozen=True, slots=True)
class Known:
    """A failure that is known of a version of a server."""

    reason: str
    """Why it fails."""
    said: str = ""
    """A pattern (`re.search`) of what the item then says: another failure of the same item is not known."""

    def explains(self, said: str) -> bool:
        """Say whether a failure with this reason is the one that is known."""
        return re.search(self.said, said) is not None


KnownFailures = Mapping[str, Sequence[Known]]
"""By the item's id."""


def why_known(known: KnownFailures, item_id: str, said: str) -> str | None:
    """Give why an item fails that failed with a reason; None where that is not known."""
    return next((one.reason for one in known.get(item_id, ()) if one.explains(said)), None)


@dataclass(frozen=True, slots=True)
class Deviation:
    """An item that a server fails without a fault of the rig's."""

    item: str
    """The item's id."""
    role: Role
    """The item's role; a server may be known in several."""
    server: str
    """The driver's name."""
    versions: tuple[str, ...]
    """Those that deviate: `4.7` for what begins so, `>=4.7` or `>=4.7,<5.1` for a range; empty for all."""
    reason: str
    zones: tuple[str, ...] = ()
    """The variants of the rig's zone (`zones/making.py`) in which alone it shows; empty where that does not matter."""
    said: str = ""
    """See `Known`."""
    setup: str = ""
    """How the server is set up where it shows, if the rig does not start it so: servers of users' may be."""
    not_each_time: bool = False
    """Whether it shows in some runs only: because of what was asked before, or of what the server draws."""

    def applies_to(self, server: str, version: str, zone: str | None = None) -> bool:
        """Say whether a server of this name and version deviates, in `zone` where one is given."""
        is_named = not self.versions or any(_matches(version, known) for known in self.versions)
        shows = zone is None or not self.zones or zone in self.zones
        return server == self.server and is_named and shows


def _matches(version: str, known: str) -> bool:
    if not known.startswith((">=", "<")):
        parts = known.split(".")
        return version.split(".")[: len(parts)] == parts
    numbers = _numbers(version)
    bounds = known.replace(" ", "").split(",")
    return all(
        numbers >= _numbers(bound[2:]) if bound.startswith(">=") else numbers < _numbers(bound[1:]) for bound in bounds
    )


def _numbers(version: str) -> tuple[int, ...]:
    """Give the numbers of a version, up to what is none: 9.20.4-S1 is 9.20.4."""
    begin = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(number) for number in begin.group().split(".")) if begin else ()


@cache
def deviations() -> tuple[Deviation, ...]:
    """Read them all, in the order of the file."""
    with PATH.open("rb") as file:
        entries = tomllib.load(file)["deviation"]
    return tuple(
        Deviation(
            entry["item"],
            entry["role"],
            entry["server"],
            tuple(entry["versions"]),
            entry["reason"],
            tuple(entry.get("zones", ())),
            entry.get("said", ""),
            entry.get("setup", ""),
            entry.get("not_each_time", False),
        )
        for entry in entries
    )


def deviating_items(role: Role, server: str, version: str, zone: str | None = None) -> dict[str, str]:
    """Map the ids of a role's items that a server fails to the reasons, for all zones or one variant of the rig's."""
    return {known.item: known.reason for known in _of_rig(role, server, version, zone)}


def unsteady_items(role: Role, server: str, version: str) -> set[str]:
    """Give the ids of those of `deviating_items` that a server does not fail each time."""
    return {known.item for known in _of_rig(role, server, version) if known.not_each_time}


def _of_rig(role: Role, server: str, version: str, zone: str | None = None) -> list[Deviation]:
    return [
        known
        for known in deviations()
        if known.role == role and not known.setup and known.applies_to(server, version, zone)
    ]


def known_deviations(role: Role, server: str, version: str, *, is_of_rig: bool = True) -> KnownFailures:
    """Give the failures that are known of a version of a server; resolvers' stand in the tree too.

    Those of setups that the rig has not are known of servers that it did not start.
    """
    found: dict[str, list[Known]] = {}
    for one in deviations():
        if one.role == role and not (one.setup and is_of_rig) and one.applies_to(server, version):
            found.setdefault(one.item, []).append(Known(one.reason, one.said))
    if role == "resolver":
        for row in (TableRow(zone, case) for zone in PLANS for case in zone.cases):
            known = row.known_status(server, version)
            if known is not None and row.case.item:
                found.setdefault(row.case.item, []).append(Known(known.sentence))
    return found
