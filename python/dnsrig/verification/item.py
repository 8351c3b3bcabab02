"""An item: one sentence that should hold, and how to find out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dnsrig.verification.verdicts import Outcome, Severity

Role = Literal["authoritative", "resolver", "proxy", "path"]
ROLES: tuple[Role, ...] = ("authoritative", "resolver", "proxy", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a module of `dnsrig.items` says of itself; its function `check` finds out.

    The documentation page of an item is made of this, so every text is for readers: whole sentences, RFC 9499's terms.
    """

    id: str
    """Such as `A-85`; JPRS-2010's ids where the report has the item, else a word: `A-case`."""
    role: Role
    requirement: str
    """The sentence that should hold."""
    references: tuple[str, ...]
    """Such as `RFC 6891 section 6.2.5`, the deciding one first."""
    severity: Severity
    consequence: str
    """What breaks in practice, and for whom, where the sentence does not hold."""
    procedure: str
    """What is asked, and what of the responses decides."""
    dig: tuple[str, ...]
    """Commands by which a person sees the same; what stands in braces is of `by_hand.PLACEHOLDERS`."""
    needs: tuple[str, ...] = ()
    """What the target or the rig must have, by names that the subject's `lacks` knows; else: not applicable."""
    faults: tuple[str, ...] = ()
    """Names of the faults (`dnsrig.verification.faults`) that must fail it."""
    is_slow: bool = False
    """Takes more than some seconds, and is left out unless it is asked for."""
    runs_alone: bool = False
    """Burdens the target so that other items could not be judged meanwhile, or looks at what passed for these; runs
    after them."""
    is_rough: bool = False
    """Sends what cannot be parsed, which may end a target that is not robust; runs when all others have told what they
    found, first the items of these that run alone."""
    is_of_server: bool = False
    """Shows the same with each of a server's zones, so it is run with the first alone, and before others, as what it
    sends may be met with silence."""
    group: str = ""
    """The headline under which lists show it."""


Check = Callable[[Any], Outcome]
"""Takes the subject of the item's role; see `dnsrig.verification.subjects`."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item of the catalogue with its check."""

    item: Item
    check: Check
    module: str
