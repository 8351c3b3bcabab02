"""What is asked before anything is measured, so that the simulated Internet has what it will be asked for."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.studies.resolving.cases import ResolverBlock, ResolverCase

LONGER = 2.0
"""How many times as long as its load a stream is asked at most, if another resolver has had it before."""
FIRST_LONGER = 10.0
"""The same of the first one, for which most of the zones are made."""
FIRST_AT_LEAST_S = 60.0


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One start of a resolver, and the streams that it is asked one after the other."""

    program: str
    case: ResolverCase
    """A case with the resolver's Internet, and whether it validates."""
    lasting_s: Mapping[str, float | None]
    """How long the loads of the streams last; None of those that warm up, which are asked to their end."""
    about_s: float
    """About how long all take."""

    @property
    def who(self) -> str:
        """The resolver, as the cases have it."""
        validation = "validating" if self.case.validates else "not validating"
        return f"{resolver_driver(self.program).title}, {validation}"


def rehearsals(blocks: Iterable[ResolverBlock]) -> list[Rehearsal]:
    """List what has to be asked so that every resolver of the blocks has asked each of its streams once.

    Those that validate come first: they need most of what is made. Streams of one block are asked in one start.
    Conditions of links, transports of clients and what stands before a resolver change little of what it asks: of
    cases that differ by them one is enough.
    """
    found = []
    listed: set[tuple[str, str, bool, str]] = set()
    for block in sorted(blocks, key=lambda one: not one.cases[0].validates):
        first = block.cases[0]
        key = (block.program, first.tree, first.validates)
        lasting_s: dict[str, float | None] = {stream: None for case in block.cases for stream in case.warm_up}
        lasting_s |= {case.traffic.stream: case.traffic.load_s for case in block.cases}
        new = {stream: load_s for stream, load_s in lasting_s.items() if (*key, stream) not in listed}
        if new:
            listed |= {(*key, stream) for stream in new}
            # A closed loop has queries for the fastest resolver: others are asked for as long as they may be.
            about_s = sum(
                case.traffic.load_s * (LONGER if case.traffic.is_closed_loop else 1.0)
                for case in block.cases
                if case.traffic.stream in new
            )
            found.append(Rehearsal(block.program, first, new, about_s))
    return found


def longest_s(load_s: float | None, *, is_first: bool) -> float:
    """Give for how long a stream is asked at most, in seconds, by the length of its load."""
    if load_s is None:
        return math.inf
    return max(FIRST_AT_LEAST_S, FIRST_LONGER * load_s) if is_first else LONGER * load_s
