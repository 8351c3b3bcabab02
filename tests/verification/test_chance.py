"""Numbers that can be guessed are told from those that cannot, which are never accused."""

import ctypes
import itertools
import random
from collections.abc import Callable, Iterator

import pytest
from dnsrig.items._chance import pattern, relation
from hypothesis import given
from hypothesis import strategies as st

COUNT = 100
SHORT = 40


def swapped(number: int) -> int:
    return number >> 8 | (number & 0xFF) << 8


def taken(numbers: Iterator[int], count: int = COUNT) -> list[int]:
    return list(itertools.islice(numbers, count))


def recurrence(step: Callable[[int], int], state: int) -> Iterator[int]:
    while True:
        state = step(state)
        yield state


@given(
    st.integers(0, 2**32),
    st.sampled_from([(0, 65_536), (1_024, 64_512), (32_768, 28_232), (49_152, 16_384), (40_000, 9_000)]),
    st.sampled_from([SHORT, COUNT]),
)
def test_drawn_numbers_have_no_pattern(seed: int, room: tuple[int, int], count: int) -> None:
    chance = random.Random(seed)
    ports = [room[0] + chance.randrange(room[1]) for _ in range(count)]
    assert not pattern(ports)
    assert not relation([chance.randrange(65_536) for _ in range(count)], ports)


@given(st.integers(0, 65_535), st.integers(0, 65_535), st.sampled_from([SHORT, COUNT]))
def test_counters_have_one(start: int, step: int, count: int) -> None:
    numbers = [(start + step * at) % 65_536 for at in range(count)]
    assert pattern(numbers)
    assert pattern([swapped(number) for number in numbers])


@given(st.integers(0, 2**32), st.integers(1, 30_000), st.sampled_from([28_232, 64_512]))
def test_counters_within_a_range_have_one(start: int, step: int, room: int) -> None:
    assert pattern([1_024 + (start + step * at) % room for at in range(COUNT)])


@given(st.integers(0, 2**32), st.integers(1, 65_535))
def test_counters_that_others_move_have_one(seed: int, step: int) -> None:
    chance = random.Random(seed)
    moved = itertools.accumulate(step * chance.randint(1, 8) for _ in range(COUNT))
    assert pattern([number % 65_536 for number in moved])


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_counters_of_several_threads_have_one(seed: int, threads: int) -> None:
    chance = random.Random(seed)
    counters = [chance.randrange(65_000) for _ in range(threads)]
    numbers = []
    for _ in range(COUNT):
        thread = chance.randrange(threads)
        counters[thread] += 1
        numbers.append(counters[thread])
    assert pattern(numbers)


@pytest.mark.parametrize(
    ("factor", "increment", "modulus", "shift"),
    [
        (25_173, 13_849, 65_536, 0),
        (75, 74, 65_537, 0),
        (171, 11_213, 53_125, 0),
        (1_103_515_245, 12_345, 2**31, 0),
        (1_103_515_245, 12_345, 2**31, 16),
        (214_013, 2_531_011, 2**32, 16),
        (22_695_477, 1, 2**32, 16),
    ],
)
def test_congruential_generators_have_one(factor: int, increment: int, modulus: int, shift: int) -> None:
    states = recurrence(lambda state: (factor * state + increment) % modulus, 12_345)
    numbers = [state >> shift & 0xFFFF for state in taken(states)]
    assert "multiplication" in (said := pattern(numbers)) or "generator" in said


def test_shift_registers_have_one() -> None:
    register = recurrence(lambda state: state >> 1 ^ (0xB400 if state & 1 else 0), 0xACE1)
    assert "shift register" in pattern(taken(register))

    def xorshift(state: int) -> int:
        state ^= state << 13 & 0xFFFF_FFFF
        state ^= state >> 17
        return state ^ state << 5 & 0xFFFF_FFFF

    assert "shift register" in pattern([state & 0xFFFF for state in taken(recurrence(xorshift, 2_463_534_242))])


def test_numbers_of_the_c_library_have_one() -> None:
    libc = ctypes.CDLL(None)
    libc.srand(7)
    assert "C library" in pattern([libc.rand() & 0xFFFF for _ in range(COUNT)])


@given(st.integers(0, 2**32))
def test_numbers_from_few_have_one(seed: int) -> None:
    chance = random.Random(seed)
    pool = chance.sample(range(65_536), 256)
    assert pattern([chance.choice(pool) for _ in range(COUNT)])
    begin = chance.randrange(60_000)
    assert pattern([begin + chance.randrange(2_000) for _ in range(COUNT)])


@given(st.integers(0, 2**32))
def test_clocks_have_one(seed: int) -> None:
    chance = random.Random(seed)
    now_us = itertools.accumulate(2_500 + chance.randrange(1_200) for _ in range(COUNT))
    assert pattern([at % 65_536 for at in now_us])


@pytest.mark.parametrize(
    "port_of",
    [
        lambda number: number,
        swapped,
        lambda number: number | 1_024,
        lambda number: number ^ 0x5555,
        lambda number: 1_024 + number % 60_000,
        lambda number: 32_768 + number % 28_232,
    ],
)
def test_ports_that_follow_from_ids_are_found(port_of: Callable[[int], int]) -> None:
    chance = random.Random(3)
    ids = [chance.randrange(65_536) for _ in range(COUNT)]
    assert relation(ids, [port_of(number) for number in ids])
