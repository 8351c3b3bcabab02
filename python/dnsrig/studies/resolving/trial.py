"""Which rate of queries this machine carries: a short trial of every resolver that a study is to measure."""

from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.errors import DnsrigError
from dnsrig.runs.folder import RunFolder
from dnsrig.scratch import scratch_folder
from dnsrig.studies.placement import place
from dnsrig.studies.progress import Step, Watcher
from dnsrig.studies.resolving.settings import ResolverStudySettings
from dnsrig.studies.resolving.study import ResolverStudy

CARRIED = 0.7
"""Share of its processors that a resolver, or what asks and answers it, may use at the highest rate: bursts are
higher than the mean, and from 90 % on a load is marked."""


class _InTrial:
    """Tells of a trial what a watcher of the run that follows can use."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def phase(self, text: str) -> None:
        """Tell what is done now."""
        self._watcher.phase(f"trial of what this machine carries: {text}")

    def note(self, text: str) -> None:
        """Keep to oneself how long a trial takes."""

    def step(self, step: Step) -> None:
        """Tell which resolver was tried."""
        self.phase(f"{step.done} of {step.total} resolvers")

    def problem(self, text: str) -> None:
        """Tell of a problem, which the run will have, too."""
        self._watcher.problem(f"in the trial of what this machine carries: {text}")


def measured_once(study: ResolverStudy[Any], settings: ResolverStudySettings, watcher: Watcher) -> list[dict[str, Any]]:
    """Run a study once into a folder that is deleted; give its measurements, none if nothing could be measured."""
    with scratch_folder("trial-") as folder:
        run = RunFolder.create(folder, study.name, argv=[], settings=settings.to_manifest(), seed=settings.seed)
        try:
            study.run(settings, run, _InTrial(watcher))
        except DnsrigError as error:
            # The run itself meets it again, and tells what to do.
            watcher.problem(f"no trial of what this machine carries: {error}")
        return run.measurements()


def carried(measurements: Sequence[Mapping[str, Any]], rate_qps: int, threads: int) -> dict[str, int]:
    """Estimate what rate each server of a trial carries, by its label, from the CPU time that it took at `rate_qps`.

    What a query costs falls with the rate, as more are answered from the cache: more may be carried, not less. The
    generator and the simulated Internet, which are in this process, have to carry it as well.
    """
    where = place(threads)
    found: dict[str, int] = {}
    for item in measurements:
        of_server = item["server"]["cpu_share"] / len(where.server)
        of_others = item["generator"]["cpu_share"] / len(where.generator)
        share = of_server + of_others if where.server & where.generator else max(of_server, of_others)
        label, rate = str(item["case"]["server"]), int(CARRIED * rate_qps / share)
        found[label] = min(rate, found.get(label, rate))
    return found
