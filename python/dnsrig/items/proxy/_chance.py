"""Whether numbers that an attacker should not guess follow a pattern (RFC 5452 section 9)."""

import itertools
from collections import Counter
from collections.abc import Sequence


def pattern(numbers: Sequence[int]) -> str:
    """Say, as a clause, which pattern the numbers follow in the order in which they came; "" if none.

    With 16 random bits each, as few as half of them different, or half of the steps alike, does not happen by chance.
    """
    different = len(set(numbers))
    if different * 2 <= len(numbers):
        return f"{len(numbers)} of them have {different} different {'value' if different == 1 else 'values'}"
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    step, often = Counter(steps).most_common(1)[0]
    if often * 2 >= len(steps):
        return f"{often} of {len(steps)} steps from one to the next are {step}"
    return ""
