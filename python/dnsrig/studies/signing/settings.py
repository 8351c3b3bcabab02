"""What a user may choose about the study signing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from dnsrig.errors import InputError
from dnsrig.studies.settings import StudySettings

Part = Literal["full", "incremental", "pieces", "unsorted", "threads"]
PARTS: tuple[Part, ...] = get_args(Part)
"""full: keys and chains; incremental: by the share regenerated; pieces: split, join, one piece; unsorted: input in no
order; threads: from 1 on."""
CHAINS: Mapping[str, str] = {"nsec": "NSEC", "nsec3": "NSEC3", "opt-out": "NSEC3 with opt-out"}
ORIGIN = "xa."
"""Apex of the synthetic zone: a code that ISO 3166 leaves to users, so no top-level domain's."""
PIECES = 5
"""Into so many the published method cuts the zone."""


@dataclass(frozen=True, slots=True)
class KeyKind:
    """An algorithm by its mnemonic, with the size of its zone-signing key in bits if it has several."""

    algorithm: str
    bits: int | None
    label: str


KEYS: Mapping[str, KeyKind] = {
    **{f"rsa{bits}": KeyKind("RSASHA256", bits, f"RSA-{bits}") for bits in (1024, 1280, 1584, 2048)},
    "p256": KeyKind("ECDSAP256SHA256", None, "P-256"),
    "ed25519": KeyKind("ED25519", None, "Ed25519"),
}
PUBLISHED_KEY = "rsa1024"
"""The key that the published re-signing, splitting and joining was done with."""
TODAYS_KEY = "p256"
"""The key that chains, order and threads are compared with, because most new zones have it."""


def usual_threads() -> tuple[int, ...]:
    """Give powers of two up to the processors that dnsrig may use, and that number."""
    most = len(os.sched_getaffinity(0))
    return tuple(sorted({*(2**power for power in range(most.bit_length())), most}))


@dataclass(frozen=True, slots=True)
class SigningSettings(StudySettings):
    """What the study of signing lets a user choose. `zone` is the path of the user's file, None for a synthetic one."""

    zone: str | None = None
    origin: str | None = None
    names: int = 55_000
    """Delegations of the synthetic zone: a tenth of the published one's."""
    parts: tuple[Part, ...] = PARTS
    keys: tuple[str, ...] = tuple(KEYS)
    chains: tuple[str, ...] = tuple(CHAINS)
    regenerated: tuple[int, ...] = (0, 20, 40, 80, 100)
    """Shares of the signatures that re-signing makes anew, in per cent."""
    threads: tuple[int, ...] = field(default_factory=usual_threads)
    """Numbers of threads; all cases but those of the part `threads` have the largest."""
    bound_s: float = 1.0
    """How long signing alone is measured, for the limit of each key."""

    @property
    def all_threads(self) -> int:
        """The number of threads of all cases but those that compare numbers of threads."""
        return max(self.threads)

    @property
    def main_key(self) -> str:
        """The key of chains, order and threads."""
        return TODAYS_KEY if TODAYS_KEY in self.keys else self.keys[0]

    @property
    def main_chain(self) -> str:
        """The chain of everything but the comparison of chains."""
        return self.chains[0]

    @property
    def resigned_keys(self) -> tuple[str, ...]:
        """The keys of re-signing: the published one and today's."""
        found = tuple(key for key in (PUBLISHED_KEY, TODAYS_KEY) if key in self.keys)
        return found or self.keys[:1]

    def check(self) -> None:
        """Refuse what could not be measured.

        Raises:
            InputError: there are too few processors, or a share is none of the method's.

        """
        processors = len(os.sched_getaffinity(0))
        if self.all_threads > processors:
            raise InputError(
                f"--threads {self.all_threads}: dnsrig may use {processors} processors here, and more threads than "
                "that say nothing about a signer"
            )
        step = 100 // PIECES
        wrong = [share for share in self.regenerated if share % step]
        if wrong:
            raise InputError(
                f"--regenerated {wrong[0]}: the zone is signed in {PIECES} pieces that expire one after the other, "
                f"so that shares are multiples of {step}"
            )
