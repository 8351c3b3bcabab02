"""IDs and ports that can be guessed: what the weak resolver takes for its queries, by the weakness that it has."""

import itertools
import secrets
from collections.abc import Callable, Iterator, Mapping

STEP = 7_919
FACTOR, INCREMENT = 25_173, 13_849
"""Of a generator of 16 bits."""
TAPS = 0xB400
"""Of a shift register of 16 bits."""
FEW = 200
FIRST_PORT = 20_000
PORTS = 19_997
PORT_FACTOR = 16_807
LEAST_ID_PORT = 1_024
"""Ports that are made of IDs are no lower."""


def _counted(step: int = 1, room: int = 65_536) -> Iterator[int]:
    begin = secrets.randbelow(room)
    return (number % room for number in itertools.count(begin, step))


def _following(step: Callable[[int], int]) -> Iterator[int]:
    return itertools.accumulate(itertools.repeat(secrets.randbelow(19_000) + 1), lambda state, _: step(state))


def _drawn_of_few() -> Iterator[int]:
    few = [secrets.randbelow(65_536) for _ in range(FEW)]
    return (secrets.choice(few) for _ in itertools.count())


def _ports(numbers: Iterator[int]) -> Iterator[int]:
    return (FIRST_PORT + number % PORTS for number in numbers)


_IDS: Mapping[str, Callable[[], Iterator[int]]] = {
    "fixed-id": lambda: itertools.repeat(4_711),
    "counts-ids": _counted,
    "steps-ids": lambda: _counted(STEP),
    "swaps-ids": lambda: (number >> 8 | (number & 0xFF) << 8 for number in _counted()),
    "computes-ids": lambda: _following(lambda state: (FACTOR * state + INCREMENT) % 65_536),
    "shifts-ids": lambda: _following(lambda state: state >> 1 ^ (TAPS if state & 1 else 0)),
    "draws-few-ids": _drawn_of_few,
}
_PORTS: Mapping[str, Callable[[], Iterator[int]]] = {
    "counts-ports": lambda: _ports(_counted(room=PORTS)),
    "steps-ports": lambda: _ports(_counted(STEP, PORTS)),
    "computes-ports": lambda: _ports(_following(lambda state: PORT_FACTOR * state % PORTS)),
    "draws-few-ports": lambda: _ports(_drawn_of_few()),
}


def ids_of(weakness: str) -> Iterator[int] | None:
    """Give the IDs that a weakness takes one after the other; None if it draws them."""
    return _IDS[weakness]() if weakness in _IDS else None


def ports_of(weakness: str) -> Iterator[int] | None:
    """Give the source ports that a weakness takes one after the other; None if they are not of this kind."""
    return _PORTS[weakness]() if weakness in _PORTS else None
