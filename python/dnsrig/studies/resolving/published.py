"""What the studies of resolvers compare with published figures by: the files, and what is taken as the same."""

import tomllib
from importlib import resources
from typing import Any

NEAR = 0.1
"""Share by which a ratio may differ from a published one and be taken as that."""
NEGLIGIBLE = 0.05
"""What is taken as no difference worth a word: half of the tenth more memory that ISC-2022 does tell of."""
NO_DIFFERENCE = 1 - NEGLIGIBLE, 1 + NEGLIGIBLE
"""The range of ratios that is taken as that."""
SMALL = 0.25
"""What is taken as a small extra load: JPRS-2010 gives no figure, and tells of two thirds more work in another case."""


def read_published(name: str) -> dict[str, Any]:
    """Read the published figures of a study by the name of its file, such as `jprs-2010`."""
    text = resources.files("dnsrig.published").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def near(ratio: float) -> tuple[float, float]:
    """Give the range that is taken as a published ratio."""
    return ratio * (1 - NEAR), ratio * (1 + NEAR)
