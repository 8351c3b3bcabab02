"""Whether numbers that an attacker should not guess follow a pattern (RFC 5452 section 9)."""

import itertools
from collections.abc import Sequence

NEAR = 256
"""Steps of a counter that other clients move too."""
NUMBERS = 65_536


def pattern(numbers: Sequence[int]) -> str:
    """Say, as a clause, which pattern the numbers of 16 bits follow in the order in which they came; "" if none.

    As few as half of them different does not happen by chance, nor half of the steps between them this short.
    """
    different = len(set(numbers))
    if different * 2 <= len(numbers):
        return f"{len(numbers)} of them have {different} different {'value' if different == 1 else 'values'}"
    # A counter may be in either order of octets.
    for values in (list(numbers), [(number >> 8) | (number & 0xFF) << 8 for number in numbers]):
        steps = [(after - before) % NUMBERS for before, after in itertools.pairwise(values)]
        near = sum(min(step, NUMBERS - step) <= NEAR for step in steps)
        if near * 2 >= len(steps):
            return f"{near} of {len(steps)} are at most {NEAR} from the one before, as those of a counter are"
    return ""
