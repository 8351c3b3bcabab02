"""What current servers do otherwise than an item wants, as the rig starts them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PATH = Path(__file__).with_name("deviations.toml")


@dataclass(frozen=True, slots=True)
class Deviation:
    """An item that a server fails without a fault of the rig's."""

    item: str
    """The item's id."""
    server: str
    """The driver's name."""
    versions: tuple[str, ...]
    """Beginnings of the versions that deviate, such as `4.7` for 4.7.3; empty for all."""
    reason: str

    def applies_to(self, server: str, version: str) -> bool:
        """Say whether a server of this name and version deviates."""
        numbers = version.split(".")
        begins = any(numbers[: len(parts)] == parts for parts in (known.split(".") for known in self.versions))
        return server == self.server and (begins or not self.versions)


@cache
def deviations() -> tuple[Deviation, ...]:
    """Read them all, in the order of the file."""
    with PATH.open("rb") as file:
        entries = tomllib.load(file)["deviation"]
    return tuple(
        Deviation(entry["item"], entry["server"], tuple(entry["versions"]), entry["reason"]) for entry in entries
    )


def deviating_items(server: str, version: str) -> dict[str, str]:
    """Map the ids of the items that a server fails to the reasons."""
    return {known.item: known.reason for known in deviations() if known.applies_to(server, version)}
