"""The order in which repetitions of several blocks are measured."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Block = TypeVar("Block")


def interleaved(blocks: Sequence[Block], repetitions: int) -> Iterator[tuple[int, Block]]:
    """Yield (repetition, block): forwards in even repetitions, backwards in odd ones (A B B A ...).

    A machine that slowly warms up or gets busier then burdens every block alike.
    """
    for repetition in range(repetitions):
        order = blocks if repetition % 2 == 0 else tuple(reversed(blocks))
        for block in order:
            yield repetition, block


def rotated(items: Sequence[Block], by: int) -> list[Block]:
    """Give `items` starting with the one at index `by` (modulo their number)."""
    start = by % len(items) if items else 0
    return [*items[start:], *items[:start]]
