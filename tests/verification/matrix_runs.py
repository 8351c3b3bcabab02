"""Runs the items of the role `authoritative` with faults, in several processes: the interpreter is the narrow place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import dns.tsig
from dns.rdtypes.ANY.DS import DS
from dnsrig.items.catalogue import items
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from turns import chosen_with

PROCESSES = 2
FAULTS_AT_ONCE = 12
SHORT_WAITS_S = (0.5, 0.5)
LONG_WAITS_S = (1.0, 2.0, 3.0)
SHORT_TCP_WAIT_S = 1.0
LONG_TCP_WAIT_S = 5.0


@dataclass(frozen=True)
class Cell:
    """What the items found with one fault before one server: verdict and reason by item."""

    server: str
    fault: str
    outcomes: Mapping[str, tuple[str, str]]

    @property
    def failed(self) -> set[str]:
        return {item for item, (verdict, _) in self.outcomes.items() if verdict == "fail"}

    def of_verdict(self, verdict: str) -> set[str]:
        return {item for item, (found, _) in self.outcomes.items() if found == verdict}

    def says(self, ids: Iterable[str]) -> str:
        return "\n".join(f"  {item}: {' - '.join(self.outcomes[item])}" for item in sorted(ids))


@dataclass(frozen=True)
class Task:
    """A fault to put before a server."""

    server: str
    fault: str
    endpoint: Endpoint
    landmarks: Landmarks
    given_ds: tuple[DS, ...] | None = None
    is_patient: bool = False
    tsig: dns.tsig.Key | None = None

    def subject(self, endpoint: Endpoint) -> AuthoritativeSubject:
        """Give what the items are run against, at the relay or at the server itself."""
        waits_s = LONG_WAITS_S if self.is_patient else SHORT_WAITS_S
        tcp_wait_s = LONG_TCP_WAIT_S if self.is_patient else SHORT_TCP_WAIT_S
        asker = Asker(endpoint, udp_waits_s=waits_s, tcp_wait_s=tcp_wait_s)
        peers = (Asker(self.endpoint),)
        return AuthoritativeSubject(asker, self.landmarks, peers=peers, given_ds=self.given_ds, tsig=self.tsig)


def run_task(task: Task) -> Cell:
    fault = NO_FAULT if task.fault == NO_FAULT.name else fault_named(task.fault)
    every = items("authoritative")
    chosen = every if fault is NO_FAULT else chosen_with(fault.name, every)
    with Relay(task.endpoint, fault, tsig=task.tsig) as relay:
        results = run_items(chosen, task.subject(relay.endpoint))
    outcomes = {result.item.id: (str(result.outcome.verdict), result.outcome.reason) for result in results}
    return Cell(task.server, task.fault, outcomes)


def run_tasks(tasks: Sequence[Task]) -> list[Cell]:
    """Run in this process, several at a time: most of their time they wait."""
    with ThreadPoolExecutor(FAULTS_AT_ONCE) as pool:
        return list(pool.map(run_task, tasks))


@contextmanager
def processes() -> Iterator[Any]:
    """Give a function that runs tasks in several processes."""
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:

        def run(tasks: Sequence[Task]) -> list[Cell]:
            found: list[Cell | None] = [None] * len(tasks)
            shares = [tasks[first::PROCESSES] for first in range(PROCESSES)]
            for first, cells in enumerate(pool.map(run_tasks, shares)):
                found[first::PROCESSES] = cells
            return [cell for cell in found if cell is not None]

        yield run
