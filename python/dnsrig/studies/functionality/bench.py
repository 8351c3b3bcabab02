"""Verifies what a run does not hold yet."""

import platform
import shutil
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dns.exception

from dnsrig.errors import DnsrigError
from dnsrig.runs.folder import RunFolder
from dnsrig.scratch import scratch_folder
from dnsrig.servers.interruption import raise_interruption
from dnsrig.studies.functionality.beside import SideBySide
from dnsrig.studies.functionality.cases import (
    Case,
    case_items,
    cases,
    chosen_roles,
    in_order,
    last_wait_s,
    missing,
    plan,
    title,
    usual_names,
    wait_s,
)
from dnsrig.studies.functionality.settings import FunctionalitySettings
from dnsrig.studies.functionality.targets import begun
from dnsrig.studies.plan import TimeLeft, about
from dnsrig.studies.progress import Step, Watcher
from dnsrig.verification.output.as_json import verification_as_json
from dnsrig.verification.verification import LABELS, ORDER, Verification
from dnsrig.wording import counted

FAILURES = (DnsrigError, OSError, dns.exception.DNSException)
"""What ends one case and leaves the others."""
KEPT_OCTETS = 1 << 20
"""A larger file of a server (a database, a log of everything) is not kept in the run."""


@dataclass(slots=True)
class _Began:
    """When a case was begun."""

    order: int
    started: datetime
    at_s: float
    """By the monotonic clock."""
    busy_s: float = 0.0
    """How long the next one had to wait for it."""


class FunctionalityBench:
    """Runs every case into a run's folder; an error of one case leaves the others."""

    def __init__(self, settings: FunctionalitySettings, run: RunFolder, watcher: Watcher) -> None:
        self._settings = settings
        self._run = run
        self._watcher = watcher
        self._cases = cases(settings)
        self._plan = plan(settings)
        self._time_left = TimeLeft(self._plan)
        measured = run.measurements()
        self._done = len(measured)
        self._order = max((item["order"] + 1 for item in measured), default=0)
        self._began: dict[tuple[int, Case], _Began] = {}

    def plan(self) -> str:
        """Say what will be done, and about how long it takes."""
        items = sum(len(case_items(role, self._settings.scope)) for role in {case.role for case in self._cases})
        done = f"; {self._done} of them are there, the rest takes {about(self._left_s())}" if self._done else ""
        return f"{self._plan.sentence}, with {counted(items, 'item')} in all{done}"

    def _left_s(self, begun: Collection[tuple[int, Case]] = ()) -> float:
        """Estimate what is left, `begun` being what only waits."""
        scope = self._settings.scope
        to_begin = [
            (repetition, case)
            for repetition, case in in_order(self._settings)
            if not self._run.done(case.case_id, repetition) and (repetition, case) not in begun
        ]
        left_s = self._time_left.left_s((case.case_id, repetition) for repetition, case in to_begin)
        now_s = time.monotonic()
        ends_s = [began.at_s + began.busy_s + wait_s(one[1], scope) for one in begun for began in [self._began[one]]]
        return max([left_s + last_wait_s(to_begin, scope), *(at_s - now_s for at_s in ends_s)])

    def note_missing(self) -> None:
        """Say what of the rig's servers this machine has not, unless the user chose the servers."""
        if not set(usual_names()) <= set(self._settings.servers):
            return
        for case, reason in missing(chosen_roles(self._settings)):
            self._run.record_failure([case.case_id], {"server": case.target, "role": case.role}, reason)
            self._watcher.problem(reason)

    def measure(self) -> None:
        """Verify every case that the run does not hold; what only waits leaves the others their turn."""
        with SideBySide[tuple[int, Case], Verification]() as beside:
            for repetition, case in in_order(self._settings):
                if self._run.done(case.case_id, repetition):
                    continue
                self._watcher.phase(f"{title(case)} as {case.role}" if case.role != "path" else title(case))
                self._verify(case, repetition, beside)
                for (ended, of), future in beside.ended():
                    self._take(of, ended, future.result, beside.waiting)
            self._watcher.phase("waiting for slow items")
            for (ended, of), future in beside.rest():
                self._take(of, ended, future.result, beside.waiting)

    def _verify(self, case: Case, repetition: int, beside: SideBySide[tuple[int, Case], Verification]) -> None:
        """Verify a case, or begin it where slow items are left, which then wait beside others."""
        items = case_items(case.role, self._settings.scope)
        began = _Began(self._order, datetime.now(UTC), time.monotonic())
        self._order += 1
        self._began[repetition, case] = began
        with ExitStack() as held:
            folder = held.enter_context(scratch_folder("verify-"))
            held.callback(_keep_files, folder / "server", self._run.path / "servers" / case.case_id)
            try:
                finish = begun(case, items, folder, held)
            except FAILURES as error:
                raise_interruption(error)
                self._failed(case, repetition, error)
                return
            began.busy_s = time.monotonic() - began.at_s
            if any(known.item.is_slow for known in items):
                beside.begin((repetition, case), held, finish)
            else:
                self._take(case, repetition, finish, beside.waiting)

    def _take(
        self, case: Case, repetition: int, found: Callable[[], Verification], waiting: Collection[tuple[int, Case]]
    ) -> None:
        """Record what a case has found, or why it could not."""
        try:
            verification = found()
        except FAILURES as error:
            raise_interruption(error)
            self._failed(case, repetition, error)
        else:
            self._record(case, repetition, verification, waiting)

    def _failed(self, case: Case, repetition: int, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        self._run.record_failure([case.case_id], {"server": case.target, "role": case.role}, reason, repetition)
        self._watcher.problem(f"not verified: {case.case_id}: {reason}")

    def _record(self, case: Case, repetition: int, found: Verification, waiting: Collection[tuple[int, Case]]) -> None:
        began = self._began[repetition, case]
        name = title(case)
        version = (found.server_version or "").removeprefix(name).strip()
        if case.role == "path":
            version = platform.release()
        measurement: dict[str, Any] = {
            "case_id": case.case_id,
            "case": {"server": case.target, "server_version": version, "server_title": name, "role": case.role},
            "repetition": repetition,
            "order": began.order,
            "started": began.started.isoformat(),
            "verification": verification_as_json(found),
            "tainted": [],
            "remarks": [],
        }
        if found.raised is not None:
            measurement["raised"] = verification_as_json(found.raised)
        self._run.record(measurement)
        self._time_left.took(case.case_id, repetition, began.busy_s)
        self._done += 1
        counts = ", ".join(f"{count} {LABELS[verdict]}" for verdict in ORDER if (count := found.summary[verdict]))
        self._watcher.step(
            Step(
                done=self._done,
                total=len(self._cases) * self._settings.repetitions,
                case_id=case.case_id,
                repetition=repetition,
                tainted=False,
                wall_s=found.elapsed_s,
                said=counts,
                left_s=self._left_s(waiting),
            )
        )


def _keep_files(source: Path, target: Path) -> None:
    """Keep a server's configuration and logs; sockets and the like cannot be copied, and large files are not."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= KEPT_OCTETS:
            kept = target / path.relative_to(source)
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
