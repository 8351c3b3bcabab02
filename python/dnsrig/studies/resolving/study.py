"""What every study of resolvers is: it needs namespaces, an Internet, and a resolver that dnsrig can start."""

import os
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar, TypeVar

from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.registry import found_resolvers, resolver_driver
from dnsrig.studies.base import Study
from dnsrig.studies.bench import server_labels
from dnsrig.studies.placement import kept_to, place
from dnsrig.studies.plan import Plan, PlannedCase
from dnsrig.studies.progress import Watcher
from dnsrig.studies.resolving.bench import ResolverBench, Setup, check_blocks
from dnsrig.studies.resolving.cases import ResolverBlock, ResolverCase
from dnsrig.studies.resolving.memory import share_of_free_mib
from dnsrig.studies.resolving.place import place_of
from dnsrig.studies.resolving.rehearsal import rehearsals
from dnsrig.studies.resolving.room import GB, require_disk
from dnsrig.studies.resolving.settings import ResolverStudySettings
from dnsrig.studies.resolving.sockets import addresses_for
from dnsrig.studies.resolving.trees import check_profile, make_internet
from dnsrig.studies.settings import StudySettings
from dnsrig.wording import counted

Settings = TypeVar("Settings", bound=ResolverStudySettings)

PREPARING_S = 30.0
"""About what Internets and streams take."""
WITHOUT_NAMESPACES = (
    "What works without: `dnsrig internet serve --loopback` serves the same Internet on 127.0.0.0/8 to a BIND that "
    "you start yourself (docs/guide/internet.md), and `dnsrig load` asks that"
)
TOLD_OCTETS = 100e6
"""Streams that take so much room on the disk are worth a word before they are made."""
AROUND_A_CASE_S = 2.0
"""About what starting a resolver and asking for its counts takes."""


class ResolverStudy(Study[Settings]):
    """A study of resolvers against the simulated Internet: servers x cases, each with an empty cache at its start."""

    settings_type: ClassVar[type[StudySettings]] = ResolverStudySettings

    def usual_servers(self) -> tuple[str, ...]:
        """Name the resolvers on this machine that can be asked what they count."""
        return tuple(name for name in found_resolvers("resolver") if resolver_driver(name).can_count)

    def require(self, names: Sequence[str]) -> None:
        """Raise InputError for what is no resolver or does not count, EnvironmentLacksError for a missing one."""
        kinds = [resolver_driver(name, "resolver") for name in dict.fromkeys(names)]
        proxies = [kind.name for kind in kinds if kind.role != "resolver"]
        if proxies:
            raise InputError(f"{self.name} measures resolvers: {', '.join(proxies)} forwards instead")
        silent = [kind for kind in kinds if not kind.can_count]
        if silent:
            raise InputError(
                f"{self.name} reads what resolvers count themselves, and {silent[0].title} has no statistics that "
                f"dnsrig can ask for: leave {silent[0].name} out of --server"
            )
        missing = [kind for kind in kinds if kind.find() is None]
        if missing:
            titles, packages = ", ".join(kind.title for kind in missing), " ".join(kind.package for kind in missing)
            raise EnvironmentLacksError(
                f"not installed: {titles}; apt-get install {packages}, or leave them out of --server"
            )

    def check(self, settings: Settings) -> None:
        """Refuse settings with which nothing can be measured."""
        if not settings.servers:
            raise EnvironmentLacksError("no resolver is installed; for example: apt-get install unbound")
        check_profile(settings)
        check_blocks(self.blocks(settings))

    def prepare(self, settings: Settings) -> None:
        """Enter a user namespace where network namespaces take that; raises EnvironmentLacksError if neither works."""
        try:
            enter_user_namespace()
        except EnvironmentLacksError as error:
            raise EnvironmentLacksError(f"{error}. {WITHOUT_NAMESPACES}") from error
        if shutil.which("ip", path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))) is None:
            raise EnvironmentLacksError("the program ip is not installed: install the Debian package iproute2")

    @abstractmethod
    def cases(self, settings: Settings) -> Sequence[Sequence[ResolverCase]]:
        """List the cases of a resolver; those that follow one another in one start are in one list."""

    @abstractmethod
    def streams(
        self, settings: Settings, run: RunFolder, internets: Mapping[str, _core.Internet]
    ) -> dict[str, _core.QueryStream]:
        """Make the streams that the cases name; `internets` by the names of their trees."""

    def bench(self, *arguments: Any) -> ResolverBench:  # noqa: ANN401 (those of ResolverBench)
        """Make what measures the cases."""
        return ResolverBench(*arguments)

    def blocks(self, settings: Settings) -> list[ResolverBlock]:
        """List the blocks: for each list of cases all servers, which are measured one after the other."""
        return [
            ResolverBlock(label, program, tuple(cases))
            for cases in self.cases(settings)
            for label, program in server_labels(settings.servers)
        ]

    def input_octets(self, settings: Settings) -> float:
        """Give about how much room on the disk the streams take, in octets; 0 if it is little."""
        return 0.0

    def around_s(self, case: ResolverCase) -> float:
        """Give about how long measuring a case takes beside its load, in seconds."""
        return AROUND_A_CASE_S

    def plan(self, settings: Settings) -> Plan:
        """Say what a run would measure."""
        blocks = self.blocks(settings)
        planned = [
            PlannedCase(case_id, seconds, seconds)
            for block in blocks
            for case_id, case in block.case_ids().items()
            for seconds in (case.traffic.load_s + self.around_s(case),)
        ]
        rehearsed = rehearsals(blocks)
        preparing_s = PREPARING_S + sum(AROUND_A_CASE_S + one.about_s for one in rehearsed)
        return Plan(tuple(planned), settings.repetitions, preparing_s=preparing_s)

    def run(self, settings: Settings, run: RunFolder, watcher: Watcher) -> None:
        """Measure every case that `run` does not hold yet."""
        watcher.note(self.plan(settings).sentence)
        octets = self.input_octets(settings)
        # A run that is resumed has them already, or most of them.
        if octets >= TOLD_OCTETS and not any((run.path / "inputs").glob("*.txt")):
            require_disk(octets, run.path)
            watcher.note(f"the streams take about {octets / GB:,.1f} GB of disk, in {run.path / 'inputs'}")
        watcher.phase("making the simulated Internet and the streams")
        blocks = self.blocks(settings)
        trees = list(dict.fromkeys(case.tree for block in blocks for case in block.cases))
        # Of a run that is resumed all cases have the same.
        noted = run.manifest()["facts"].get("internet_memory_mib")
        memory_mib = settings.internet_memory_mib or noted or share_of_free_mib(len(trees))
        internets = {tree: make_internet(settings, tree, run, memory_mib) for tree in trees}
        streams = self.streams(settings, run, internets)
        summaries = {tree: internet.summary() for tree, internet in internets.items()}
        run.note(internet=summaries, internet_memory_mib=memory_mib)
        where = place(settings.server_threads)
        if where.is_crowded:
            watcher.note(
                f"{settings.server_threads} threads of a resolver share {counted(len(where.server), 'processor')}: "
                "figures are of their taking turns, too"
            )
        with ExitStack() as stack:
            # The Internet's threads inherit this, and keep off the resolver's processors.
            stack.enter_context(kept_to(where.generator))
            addresses = addresses_for(max((stream.client_count for stream in streams.values()), default=0))
            places = {
                tree: stack.enter_context(
                    place_of(internet, client_addresses=addresses, whole_packets=settings.whole_packets)
                )
                for tree, internet in internets.items()
            }
            sends_packets = all(where.server.sends_packets for where in places.values())
            run.note(internet_sends_packets=sends_packets)
            if settings.whole_packets and not sends_packets:
                watcher.note(
                    "packet sockets are not permitted here: the system sends the Internet's answers, for longer"
                )
            bench = self.bench(settings, run, Setup(blocks, streams, places, where), watcher)
            bench.rehearse(run.path / "servers")
            bench.measure()
