"""JPRS-2010's items of functionality, and what the report found of them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from dnsrig.verification.item import Role

Outcome = Literal["verified", "in part", "could not verify", "not conducted", "not told"]


@dataclass(frozen=True, slots=True)
class PublishedItem:
    """An item of the report."""

    role: Role
    id: str
    """As the report calls it: such as `F-85`, or a case's number and the item's."""
    items: tuple[str, ...]
    """Ids of the items by which dnsrig asks the same."""
    requirement: str
    outcome: Outcome
    told: str
    """What else the report says of it, in whole sentences; or "". """


@cache
def published_items() -> tuple[PublishedItem, ...]:
    """Read them all, in the order of the file."""
    text = resources.files("dnsrig.published").joinpath("jprs-2010-functionality.toml").read_text(encoding="utf-8")
    return tuple(PublishedItem(**{**entry, "items": tuple(entry["items"])}) for entry in tomllib.loads(text)["item"])
