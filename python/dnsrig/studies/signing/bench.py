"""Measures the cases of the study signing."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dnsrig.errors import DnsrigError, SubjectFailedError
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.interleave import interleaved
from dnsrig.studies.plan import Plan, TimeLeft, about
from dnsrig.studies.progress import Step, Watcher
from dnsrig.studies.signing.cases import BOUND, Action, Case, all_cases
from dnsrig.studies.signing.check import verify
from dnsrig.studies.signing.child import Used, run_measured
from dnsrig.studies.signing.inputs import Inputs, join_command, refresh_interval_s, split_command
from dnsrig.studies.signing.settings import KEYS, PIECES, SigningSettings
from dnsrig.studies.signing.signatures import read_signatures
from dnsrig.studies.signing.signers.base import Signer, date
from dnsrig.studies.signing.signers.registry import signer

BOUND_TITLE = "signing alone"
BOUND_REMARKS = (
    "signatures of short texts with the code that dnsrig signs with: AWS-LC, and with P-256 also RustCrypto's "
    "arithmetic, 64 signatures at a time",
)
SHARE_TOLERANCE = 0.02
"""Of all signatures: by so much the share made anew may differ from that asked for, since pieces are not equal."""
OTHER_SHARE = "it made another share of the signatures anew than it was asked for"
NOT_VALID = "the joined zone is not valid"
LDNS_PIECES = "ldns-zsplit cuts by the number of records, also between a delegation and its glue"


@dataclass(frozen=True, slots=True)
class Done:
    """What a case came to."""

    used: Used
    work: dict[str, Any]
    tainted: list[str] = field(default_factory=list)
    remarks: tuple[str, ...] = ()


class SigningBench:
    """Runs every case of the study into a run's folder."""

    def __init__(self, settings: SigningSettings, run: RunFolder, inputs: Inputs, plan: Plan, watcher: Watcher) -> None:
        self._settings = settings
        self._run = run
        self._inputs = inputs
        self._watcher = watcher
        self._cases = all_cases(settings)
        measured = run.measurements()
        self._done = len(measured)
        self._order = max((item["order"] + 1 for item in measured), default=0)
        self._first_error: DnsrigError | None = None
        self._programs = _programs(self._cases)
        self._plan = plan
        self._time_left = TimeLeft(plan)
        self._waiting = {
            (case.case_id, repetition)
            for case in self._cases
            for repetition in range(settings.repetitions)
            if not run.done(case.case_id, repetition)
        }
        self._actions: Mapping[Action, Callable[[Case, int, Path], Done]] = {
            "sign": self._sign,
            "split": self._split,
            "join": self._join,
            "bound": self._bound,
        }

    def plan(self) -> str:
        """Say how many measurements the run is made of, and about how long those take that it does not hold yet."""
        records = self._inputs.statistics.get("records", 0)
        done = f"; {self._done} of them are there, the rest takes {about(self._left_s())}" if self._done else ""
        return f"{self._plan.sentence}, with a zone of {records:,} records{done}"

    def measure(self) -> None:
        """Measure what the run does not hold yet; a measurement that fails is recorded with the reason.

        Raises the first such reason if no case at all could be measured.
        """
        for repetition, case in interleaved(self._cases, self._settings.repetitions):
            if self._run.done(case.case_id, repetition):
                continue
            began = time.monotonic()
            self._waiting.discard((case.case_id, repetition))
            self._watcher.phase(f"{case.case_id}, repetition {repetition + 1}")
            folder = self._inputs.scratch / "work"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                done = self._actions[case.action](case, repetition, folder)
            except DnsrigError as error:
                self._failed(case, repetition, error)
            else:
                self._time_left.took(case.case_id, repetition, time.monotonic() - began)
                self._record(case, repetition, done)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        if self._first_error is not None and self._done == 0:
            raise self._first_error

    def _left_s(self) -> float:
        return self._time_left.left_s(self._waiting)

    def _sign(self, case: Case, repetition: int, folder: Path) -> Done:
        program, inputs = signer(case.program)(), self._inputs
        zone, last = self._source(case)
        task = inputs.task(
            zone,
            case.key,
            folder,
            now=int(time.time()),
            refresh_s=None if case.regenerated is None else refresh_interval_s(case.regenerated),
            chain=case.chain,
            threads=case.threads,
            verifies_kept=case.verifies_kept,
        )
        program.prepare(task)
        used = run_measured(program.command(task), folder, cpus=_processors(case.threads))
        program.finish(task)
        signatures = read_signatures(task.output)
        made = signatures.expiring_after(last)
        verified_by = None
        if repetition == 0 and case.source != "piece":
            verified_by = verify(task.output, inputs.origin, folder)
        tainted = []
        if case.regenerated is not None and not _is_near(made, signatures.count, case.regenerated):
            tainted.append(OTHER_SHARE)
        work = {
            "output_octets": task.output.stat().st_size,
            "signatures": signatures.count,
            "made": made,
            "verified_by": verified_by,
        }
        return Done(used, work, tainted, program.remarks)

    def _source(self, case: Case) -> tuple[Path, str]:
        """Give the zone file of a case, and the date after which only signatures expire that the case makes."""
        inputs = self._inputs
        if case.source == "dated":
            dated = inputs.dated(case.key)
            return dated.joined, dated.last_expiration
        sources = {
            "sorted": lambda: inputs.zone,
            "unsorted": lambda: inputs.unsorted,
            "piece": lambda: inputs.pieces[0],
        }
        return sources[case.source](), date(int(time.time()))

    def _split(self, case: Case, _repetition: int, folder: Path) -> Done:
        zone = folder / "zone"
        zone.symlink_to(self._inputs.zone)
        if case.program == "dnsrig":
            command = split_command(zone, folder / "piece")
        else:
            records = int(str(self._inputs.statistics["records"]))
            command = ["ldns-zsplit", "-n", str(-(-records // PIECES)), "-o", self._inputs.origin, str(zone)]
        used = run_measured(command, folder, cpus=_processors(case.threads))
        pieces = [path for path in folder.iterdir() if path.suffix[1:].isdigit()]
        octets = sum(path.stat().st_size for path in pieces)
        remarks = () if case.program == "dnsrig" else (LDNS_PIECES,)
        return Done(used, {"output_octets": octets}, remarks=remarks)

    def _join(self, case: Case, repetition: int, folder: Path) -> Done:
        dated, output = self._inputs.dated(case.key), folder / "joined.zone"
        if case.program == "dnsrig":
            command = join_command(list(dated.pieces), dated.manifest, output)
        else:
            # ldns-zcat writes to standard output; exec leaves the account of the process to it.
            command = ["sh", "-c", 'output=$1; shift; exec ldns-zcat "$@" >"$output"', "sh", str(output)]
            command += map(str, dated.pieces)
        used = run_measured(command, folder, cpus=_processors(case.threads))
        verified_by, tainted = None, []
        if repetition == 0 or case.program != "dnsrig":
            try:
                verified_by = verify(output, self._inputs.origin, folder)
            except SubjectFailedError:
                # A tool that joins pieces wrongly is compared all the same; ours has no such excuse.
                if case.program == "dnsrig":
                    raise
                tainted.append(NOT_VALID)
        work = {
            "output_octets": output.stat().st_size,
            "signatures": read_signatures(output).count,
            "verified_by": verified_by,
        }
        return Done(used, work, tainted)

    def _bound(self, case: Case, _repetition: int, folder: Path) -> Done:
        kind = KEYS[case.key]
        module = "dnsrig.studies.signing.crypto_bound"
        bits = "-" if kind.bits is None else str(kind.bits)
        command = [sys.executable, "-m", module, kind.algorithm, bits]
        command += [str(case.threads), str(self._settings.bound_s)]
        used = run_measured(command, folder, cpus=_processors(case.threads))
        return Done(used, json.loads(used.said.splitlines()[-1]), remarks=BOUND_REMARKS)

    def _failed(self, case: Case, repetition: int, error: DnsrigError) -> None:
        self._first_error = self._first_error or error
        self._run.record_failure([case.case_id], case.axes, str(error), repetition)
        self._watcher.problem(f"not measured: {case.case_id}, repetition {repetition + 1}: {error}")

    def _record(self, case: Case, repetition: int, done: Done) -> None:
        used, tainted = done.used, [*done.tainted, *done.used.disturbances]
        title, version = self._programs[case.program, case.action]
        measurement = {
            "case_id": case.case_id,
            "case": {**case.axes, "server_title": title, "server_version": version},
            "repetition": repetition,
            "order": self._order,
            "started": used.started.isoformat(),
            "work": done.work,
            "server": dict(used.program),
            "generator": dict(used.generator),
            "machine": dict(used.machine),
            "monitor": dict(used.monitor),
            "tainted": tainted,
            "remarks": list(done.remarks),
        }
        self._order += 1
        self._run.record(measurement, used.series)
        self._done += 1
        self._watcher.step(
            Step(
                done=self._done,
                total=len(self._cases) * self._settings.repetitions,
                case_id=case.case_id,
                repetition=repetition,
                tainted=bool(tainted),
                wall_s=used.program["wall_us"] / 1e6,
                left_s=self._left_s(),
            )
        )


def _processors(threads: int) -> frozenset[int]:
    """Give one processor a thread, the same ones for all programs with so many threads."""
    return frozenset(sorted(os.sched_getaffinity(0))[:threads])


def _is_near(made: int, count: int, share: int) -> bool:
    return count > 0 and abs(made / count - share / 100) <= SHARE_TOLERANCE


def _programs(cases: list[Case]) -> dict[tuple[str, Action], tuple[str, str]]:
    """Give title and version of each program that does something in the cases."""
    found: dict[tuple[str, Action], tuple[str, str]] = {}
    for case in cases:
        place = (case.program, case.action)
        if place not in found:
            found[place] = _program(signer(case.program) if case.program != BOUND else None)
    return found


def _program(kind: type[Signer] | None) -> tuple[str, str]:
    return (BOUND_TITLE, "") if kind is None else (kind.title, kind.version())
