"""Whether numbers that an attacker should not guess follow a pattern (RFC 5452 section 9).

Each finding happens by chance less than once in millions of runs, also where numbers are drawn from some thousands, as
ports may be.
"""

import itertools
import math
from collections.abc import Iterable, Sequence

NUMBERS = 65_536
SMALLEST_ROOM = 16_384
"""Numbers that are drawn from so many, as from the ephemeral ports of RFC 6335, may repeat as chance has it."""
LEAST_ROOM = 4_096
"""Numbers that lie in fewer are guessed by an attacker in a few tries of some thousand messages each."""
CHANCE = 1e-8
"""What is less likely than this does not happen by chance."""
NEAR = 8
"""Neighbours this near come from counters, of which there may be one for each thread or server."""
ALIKE = 1_024
"""Steps of a counter that others move too, or of a clock, differ by so little."""
LAGS = range(1, 5)
"""Steps are looked at between numbers so far apart: several counters may take turns."""
MULTIPLES = 16
"""A counter may be moved by other clients so often between two numbers."""
WINDOW = 6
LEAST_MODULUS = 256
SPARE_BITS = 20
LINEAR_BITS = 3
"""So many of 16 bits that follow a linear recurrence are one."""
LIBC_LAGS = (3, 31)
"""Of the C library's rand(): each number is the sum of those so far before it."""
TRUNCATED = ((1_103_515_245, 12_345), (214_013, 2_531_011), (22_695_477, 1))
"""Multipliers and increments of common generators that give the upper half of 32 bits."""
TRUNCATED_MASK = 0x7FFF
CHECKED = 6


def pattern(numbers: Sequence[int]) -> str:
    """Say, as a clause, which pattern the numbers of 16 bits follow in the order in which they came; "" if none."""
    swapped = [_swapped(number) for number in numbers]
    found = _few(numbers) or _narrow(numbers)
    for values in (numbers, swapped):
        found = found or _clustered(values) or _stepping(values) or _congruential(values)
    return found or _summing(numbers) or _linear(numbers) or _truncated(numbers)


def relation(ids: Sequence[int], ports: Sequence[int]) -> str:
    """Say, as a clause, how the port of each query follows from its ID, or the other way round; "" if it does not."""
    for words, values in (("", ids), (" with its octets swapped", [_swapped(one) for one in ids])):
        pairs = list(zip(values, ports, strict=True))
        for how, made in (
            ("differ", [port - one for one, port in pairs]),
            ("differ, bit by bit,", [port ^ one for one, port in pairs]),
        ):
            if _repeats(made) >= _most_repeats(len(made)):
                return f"each port and its query's ID{words} {how} by one of {len(set(made))} values"
    return ""


def _swapped(number: int) -> int:
    return number >> 8 | (number & 0xFF) << 8


def _repeats(numbers: Sequence[int]) -> int:
    return len(numbers) - len(set(numbers))


def _most_repeats(count: int) -> int:
    """Give how many of so many numbers do not repeat others by chance (the tail of a Poisson distribution)."""
    pairs = count * (count - 1) / 2 / SMALLEST_ROOM
    return next(most for most in itertools.count(1) if pairs**most / math.factorial(most) < CHANCE)


def _few(numbers: Sequence[int]) -> str:
    if _repeats(numbers) < _most_repeats(len(numbers)):
        return ""
    different = len(set(numbers))
    return f"{len(numbers)} of them have {different} different {'value' if different == 1 else 'values'}"


def _narrow(numbers: Sequence[int]) -> str:
    """Find numbers in a small range, or of which few bits change."""
    low, high = min(numbers), max(numbers)
    if high - low < LEAST_ROOM:
        return f"all are between {low} and {high}"
    varying = 0
    for number in numbers:
        varying |= number ^ low
    if 1 << varying.bit_count() < LEAST_ROOM:
        return f"all have the same bits but for {varying.bit_count()}"
    return ""


def _clustered(numbers: Sequence[int]) -> str:
    """Find counters, however many there are, by numbers that lie beside each other."""
    ordered = sorted(numbers)
    gaps = [math.inf, *(after - before for before, after in itertools.pairwise(ordered)), math.inf]
    beside = sum(min(before, after) <= NEAR for before, after in itertools.pairwise(gaps))
    if beside * 2 < len(numbers):
        return ""
    return f"{beside} of {len(numbers)} are at most {NEAR} from another, as those of counters are"


def _stepping(numbers: Sequence[int]) -> str:
    """Find counters of any step, also where others move them, and clocks."""
    for lag in LAGS:
        steps = [(after - before) % NUMBERS for before, after in zip(numbers, numbers[lag:], strict=False)]
        alike = _most_alike(steps)
        if alike * 2 >= len(steps):
            return f"{alike} of {len(steps)} steps between them differ by at most {ALIKE}, as those of a counter do"
    steps = [(after - before) % NUMBERS for before, after in itertools.pairwise(numbers)]
    for step in set(steps):
        multiples = {step * times % NUMBERS for times in range(1, MULTIPLES + 1)}
        fitting = sum(one in multiples for one in steps)
        if fitting * 2 >= len(steps):
            return f"{fitting} of {len(steps)} steps between them are multiples of {step}, as those of a counter are"
    return ""


def _most_alike(steps: Sequence[int]) -> int:
    """Count the steps in the arc of the circle of all steps that has the most."""
    ordered = sorted(steps)
    around = [*ordered, *(step + NUMBERS for step in ordered)]
    most = end = 0
    for begin, first in enumerate(ordered):
        while end < len(around) and around[end] - first <= ALIKE:
            end += 1
        most = max(most, min(end - begin, len(steps)))
    return most


def _congruential(numbers: Sequence[int]) -> str:
    """Find x' = a x + c modulo some m: m divides d1 d3 - d2^2 of any three steps in a row."""
    steps = [after - before for before, after in itertools.pairwise(numbers)]
    common = math.gcd(*steps)
    steps = [step // common for step in steps] if common else steps
    zeros = [steps[at] * steps[at + 2] - steps[at + 1] ** 2 for at in range(len(steps) - 2)]
    for at in range(len(zeros) - WINDOW + 1):
        modulus = math.gcd(*zeros[at : at + WINDOW])
        if modulus >= LEAST_MODULUS:
            return f"each follows from the one before by multiplication and addition modulo {modulus * common}"
    return ""


def _truncated(numbers: Sequence[int]) -> str:
    """Find the upper half of a state of 32 bits, by trying the lower one."""
    first, *following = (number & TRUNCATED_MASK for number in numbers[:CHECKED])
    for factor, increment in TRUNCATED:
        begin = factor * (first << 16) + increment
        for state in range(begin, begin + factor * NUMBERS, factor):
            if state >> 16 & TRUNCATED_MASK == following[0] and _gives(state, factor, increment, following[1:]):
                return f"they are those of a generator of 32 bits, {factor} x + {increment}"
    return ""


def _gives(state: int, factor: int, increment: int, following: Iterable[int]) -> bool:
    for number in following:
        state = factor * state + increment
        if state >> 16 & TRUNCATED_MASK != number:
            return False
    return True


def _summing(numbers: Sequence[int]) -> str:
    """Find the lower half of what the C library's rand() gives, whose sums may carry one."""
    near, far = LIBC_LAGS
    off = [(numbers[at] - numbers[at - near] - numbers[at - far]) % NUMBERS for at in range(far, len(numbers))]
    if off and sum(one <= 1 for one in off) * 2 >= len(off):
        return "each is a sum of two before it, as those of the C library's rand() are"
    return ""


def _linear(numbers: Sequence[int]) -> str:
    """Find shift registers: bits that follow from some before them by exclusive or."""
    most = (len(numbers) - SPARE_BITS) // 2
    found = 0
    for bit in range(16):
        bits = [number >> bit & 1 for number in numbers]
        # Bits that hardly change are no sign: ports may be from a part of the numbers.
        found += len(bits) <= 4 * sum(bits) <= 3 * len(bits) and _linear_complexity(bits) <= most
    if found < LINEAR_BITS:
        return ""
    return f"{found} bits of each follow from those before, as those of a shift register do"


def _linear_complexity(bits: Sequence[int]) -> int:
    """Give the length of the shortest shift register with linear feedback that gives the bits (Berlekamp, Massey)."""
    # Polynomials over GF(2), and the bits up to now with the newest lowest, as integers.
    current, previous, history = 1, 1, 0
    length, since = 0, 1
    for at, bit in enumerate(bits):
        history = history << 1 | bit
        if (current & history).bit_count() % 2 == 0:
            since += 1
        elif 2 * length <= at:
            current, previous = current ^ previous << since, current
            length, since = at + 1 - length, 1
        else:
            current ^= previous << since
            since += 1
    return length
