"""What is asked before anything is measured, so that the simulated Internet has what it will be asked for."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.studies.resolving.cases import ResolverBlock, ResolverCase

LONGER_THAN_LOADS = 2.0
"""How many times as long as a closed loop it is rehearsed at most, if another resolver has asked for all of it."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One start of a resolver, and the streams that it is asked one after the other."""

    program: str
    case: ResolverCase
    """A case with the resolver's Internet, and whether it validates."""
    streams: Mapping[str, float]
    """Each with how many seconds it is asked for at most; infinity: to its end."""
    seconds: float
    """About how long all take: as long as their loads."""

    @property
    def who(self) -> str:
        """The resolver, as the cases have it."""
        validation = "validating" if self.case.validates else "not validating"
        return f"{resolver_driver(self.program).title}, {validation}"


def rehearsals(blocks: Iterable[ResolverBlock]) -> list[Rehearsal]:
    """List what has to be asked so that every resolver of the blocks has asked each of its streams once.

    Streams of one block are asked in one start, as they are when it is measured. Conditions of links, transports of
    clients and what stands before a resolver change little of what it asks: of cases that differ by them one is enough.
    A closed loop has queries for the fastest resolver, and slower ones do not come to its end.
    """
    found = []
    by_all: set[tuple[str, str]] = set()
    by_each: set[tuple[str, str, bool, str]] = set()
    for block in blocks:
        first = block.cases[0]
        who = (block.program, first.tree, first.validates)
        # Streams to warm up with are short.
        lasting = {stream: (0.0, False) for case in block.cases for stream in case.warm_up}
        loads = [case.traffic for case in block.cases]
        lasting |= {load.stream: (load.load_s, load.is_closed_loop) for load in loads}
        new = {stream: how for stream, how in lasting.items() if (*who, stream) not in by_each}
        if not new:
            continue
        streams = {
            stream: LONGER_THAN_LOADS * load_s if is_closed_loop and (first.tree, stream) in by_all else math.inf
            for stream, (load_s, is_closed_loop) in new.items()
        }
        found.append(Rehearsal(block.program, first, streams, sum(load_s for load_s, _ in new.values())))
        by_each |= {(*who, stream) for stream in new}
        by_all |= {(first.tree, stream) for stream in new}
    return found
