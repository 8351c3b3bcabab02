"""The figures of CA-2006, by the names that the study uses."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class FullSigning:
    """One row of table 1."""

    seconds: float
    signed_megabytes: float
    growth: float
    """Size of the signed zone to that of the unsigned one."""


@dataclass(frozen=True, slots=True)
class Published:
    """Tables 1 and 2, and what pieces took."""

    full: Mapping[str, FullSigning]
    """By key, such as `rsa1024`."""
    resigned: Mapping[int, float]
    """Seconds of re-signing by the per cent of signatures made anew, with RSA-1024."""
    split_s: float
    join_s: float
    parallel_s: float
    """Reckoned by the authors: split, one piece, join."""


def read_published() -> Published:
    """Read the figures."""
    text = resources.files("dnsrig.published").joinpath("ca-2006.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    full = {
        f"rsa{row['rsa_bits']}": FullSigning(row["seconds"], row["signed_megabytes"], row["growth"])
        for row in table["full"]
    }
    shares = table["incremental"]["seconds_by_regenerated_percent"]
    pieces = table["pieces"]
    return Published(
        full=full,
        resigned={int(share): float(seconds) for share, seconds in shares.items()},
        split_s=pieces["split_seconds"],
        join_s=pieces["join_seconds"],
        parallel_s=pieces["parallel_estimate_seconds"],
    )
