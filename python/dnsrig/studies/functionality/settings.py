"""What a user may choose about the study functionality."""

from dataclasses import dataclass
from typing import Literal

from dnsrig.studies.settings import StudySettings
from dnsrig.verification.item import ROLES

Scope = Literal["all", "published"]


@dataclass(frozen=True, slots=True)
class FunctionalitySettings(StudySettings):
    """`scope` is all items of the catalogue, or those of JPRS-2010 but for slow ones.

    With several repetitions a verdict that is not the same in all of them becomes inconclusive.
    """

    repetitions: int = 1
    roles: tuple[str, ...] = ROLES
    scope: Scope = "all"
