"""Measures the cases of encrypted-cost."""

import queue
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dnsrig.loads import LoadSettings, Route, closed_loop, fixed_rate, run_load
from dnsrig.runs.folder import RunFolder
from dnsrig.servers import ports
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.certificates import Certificate, CertificateKey, make_certificate
from dnsrig.servers.registry import driver
from dnsrig.servers.transports import EncryptedTransport
from dnsrig.studies.answer_check import check_answers
from dnsrig.studies.bench import TIMEOUT_S, Bench, Observation, Outcome, judge, observe, require_answers, server_labels
from dnsrig.studies.encrypted.answers import check_transport
from dnsrig.studies.encrypted.cases import (
    ABANDONED_AFTER_S,
    Case,
    Traffic,
    all_cases,
    certificate_cases,
    thread_cases,
)
from dnsrig.studies.encrypted.inputs import ORIGIN, Inputs
from dnsrig.studies.encrypted.offers import lacking, wanted_transports
from dnsrig.studies.encrypted.parts import PartsMeter
from dnsrig.studies.encrypted.relay import Relay
from dnsrig.studies.encrypted.server_hello import negotiated
from dnsrig.studies.encrypted.settings import EncryptedSettings
from dnsrig.studies.encrypted.soundness import beside_taints, both_at_ease, case_faults, reworded
from dnsrig.studies.inputs import Variant
from dnsrig.studies.placement import Placement, place
from dnsrig.studies.progress import Watcher

NO_CERTIFICATE = "none"
FIXED_RATE = "none"
"""The bottleneck of a case whose rate is given."""
AROUND_A_LOAD_S = 0.7
"""What the checks before a load, the answers after it and its share of the servers' starts take, about."""
_LONG = {"intervals", "latency_histogram"}


@dataclass(frozen=True, slots=True)
class EncryptedBlock:
    """One server with one certificate and one number of threads."""

    label: str
    program: str
    certificate: CertificateKey
    threads: int
    transports: frozenset[EncryptedTransport]

    @property
    def file_name(self) -> str:
        """Name the block in file names."""
        return f"{self.label.replace('#', '_')}-{self.certificate}-{self.threads}"

    @property
    def title(self) -> str:
        """Name the block for readers."""
        return f"{self.label}, certificate {self.certificate}, threads {self.threads}"

    @property
    def axes(self) -> dict[str, Any]:
        """Give what the block's cases have in common, as measurements and failures record it."""
        return {"server": self.label, "certificate": self.certificate, "server_threads": self.threads}


class EncryptedBench(Bench[EncryptedBlock, Server]):
    """Runs every case of encrypted-cost into a run's folder."""

    def __init__(self, settings: EncryptedSettings, run: RunFolder, inputs: Inputs, watcher: Watcher) -> None:
        self._settings = settings
        self._inputs = inputs
        most = max(settings.threads)
        self._places = {threads: place(threads, most) for threads in settings.threads}
        self._certificates = _certificates(run, settings)
        kinds = [(label, name, wanted_transports(name, settings)) for label, name in server_labels(settings.servers)]
        kept, threads = settings.certificates[0], settings.threads[0]
        setups = [(kept, threads)]
        setups += [(key, threads) for key in settings.certificates[1:]]
        setups += [(kept, count) for count in settings.threads[1:]]
        blocks = [EncryptedBlock(label, name, *setup, offered) for setup in setups for label, name, offered in kinds]
        self._run_cases = {block: self._cases_of(block) for block in blocks}
        super().__init__([block for block in blocks if self._run_cases[block]], settings.repetitions, run, watcher)

    def _cases_of(self, block: EncryptedBlock) -> dict[str, Case]:
        settings = self._settings
        if block.certificate != settings.certificates[0]:
            cases = certificate_cases(settings, block.transports)
        elif block.threads != settings.threads[0]:
            cases = thread_cases(settings, block.transports)
        else:
            cases = all_cases(settings, block.transports)
        return {f"{block.file_name}-{case.kind}": case for case in cases}

    def note_lacking(self) -> None:
        """Record which of the wanted transports and parts servers lack, and why."""
        for label, name in server_labels(self._settings.servers):
            for what, reason in lacking(name, self._settings):
                self._run.record_failure([f"{label}-{one}" for one in what.values()], {"server": label, **what}, reason)

    def plan(self) -> str:
        """Say how many loads the run is made of, and how long they take."""
        settings = self._settings
        cases = [case for block in self._run_cases.values() for case in block.values()]
        seconds = sum(settings.warm_up_s + settings.load_s * case.main.length + AROUND_A_LOAD_S for case in cases)
        loads, minutes = len(cases) * settings.repetitions, seconds * settings.repetitions / 60
        return f"{loads} loads of {len(cases)} cases: about {max(1, round(minutes))} min"

    def _case_ids(self, block: EncryptedBlock) -> list[str]:
        return list(self._run_cases[block])

    def _placement(self, block: EncryptedBlock) -> Placement:
        return self._places[block.threads]

    def _server(self, block: EncryptedBlock, folder: Path) -> Server:
        settings = ServerSettings(
            threads=block.threads,
            cpus=self._placement(block).server,
            answers=self._settings.answers,
            encrypted=block.transports,
            certificate=self._certificates[block.certificate] if block.transports else None,
        )
        return driver(block.program)([ServedZone(ORIGIN, self._inputs.zone_file)], settings, folder)

    def _measure_case(self, block: EncryptedBlock, case_id: str, server: Server) -> Outcome:
        case = self._run_cases[block][case_id]
        check = check_answers(server.address, ORIGIN, self._inputs.queries, Variant("none", None), server.check_running)
        compared = check_transport(server.endpoints(), case.main.transport, self._inputs.queries.message(0))
        if self._settings.warm_up_s > 0:
            self._send(block, case, server, self._settings.warm_up_s)
        duration_s = self._settings.load_s * case.main.length
        meter = PartsMeter(server)
        (load, beside), observed = observe(server, lambda: self._send(block, case, server, duration_s))
        parts = meter.used()
        asks = case.main.attempts_per_s is None
        if asks:
            require_answers(load, f"{block.title}, {case.kind}")
        verdict = self._judge(block, case, load, beside, observed)
        faults = [*check.faults, *compared.faults, *case_faults(case, load, beside, compared.octets)]
        cpu_us, opened = observed.server["cpu_us"], load["connections"]["opened"]
        more: dict[str, Any] = {**parts, **self._agreed(case, server)}
        if case.opens_sessions and opened:
            more["server_cpu_us_per_session"] = cpu_us / opened
        if beside is not None:
            more["beside"] = {key: value for key, value in beside.items() if key not in _LONG}
        encrypted = case.main.transport in block.transports or case.beside is not None
        return Outcome(
            load=load,
            observed=observed,
            cpu_us_per_query=cpu_us / load["answered"] if asks and beside is None and load["answered"] else None,
            bottleneck=verdict["bottleneck"],
            evidence=verdict["evidence"],
            tainted=list(dict.fromkeys([*verdict["tainted"], *faults])),
            axes={**case.axes, "certificate": block.certificate if encrypted else NO_CERTIFICATE},
            more=more,
        )

    def _agreed(self, case: Case, server: Server) -> dict[str, Any]:
        """Say what TLS version, cipher suite and group generator and server agree on; not over QUIC, which hides it."""
        if case.main.transport not in {"dot", "doh"} or not case.opens_sessions:
            return {}
        with Relay(server.endpoints()[case.main.transport]) as relay:
            host, _ = server.address
            route = Route(case.main.transport, host, relay.port, clients=1)
            settings = LoadSettings(routes=(route,), schedule=closed_loop(1), queries=1, timeout_s=TIMEOUT_S)
            run_load(self._inputs.queries, settings)
        found = negotiated(relay.from_server)
        return {} if found is None else {"tls": asdict(found)}

    def _judge(
        self,
        block: EncryptedBlock,
        case: Case,
        load: dict[str, Any],
        beside: dict[str, Any] | None,
        observed: Observation,
    ) -> dict[str, Any]:
        placement = self._placement(block)
        judged = judge(load, observed, placement)
        if case.main.attempts_per_s is not None:
            return {**judged, "bottleneck": FIXED_RATE, "evidence": ["the rate of attempts was given"]}
        if case.beside is not None and beside is not None:
            reasons = [*judged["tainted"], *beside_taints(case.beside, beside)]
            return {**judged, "tainted": reworded(reasons, placement)}
        return {**judged, "tainted": [*judged["tainted"], *both_at_ease(load, observed, placement)]}

    def _send(
        self, block: EncryptedBlock, case: Case, server: Server, duration_s: float
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Run a case's load, and the one beside it at the same time; give both reports."""
        processors = sorted(self._placement(block).generator)
        if case.beside is None:
            return self._load(case.main, server, duration_s, processors), None
        # Each load has processors of its own where the generator has two.
        half = len(processors) // 2
        settings = self._load_settings(case.beside, server, duration_s, processors[half:])
        reports: queue.SimpleQueue[dict[str, Any] | BaseException] = queue.SimpleQueue()
        given_up = threading.Event()

        def go_on(_: dict[str, Any]) -> None:
            if given_up.is_set():
                raise KeyboardInterrupt

        def run_beside() -> None:
            try:
                reports.put(run_load(self._inputs.queries, settings, go_on)[0])
            except BaseException as error:
                reports.put(error)

        # Python's threads run at the same time here, because the core releases the interpreter while it loads.
        thread = threading.Thread(target=run_beside, name="load beside")
        thread.start()
        try:
            load = self._load(case.main, server, duration_s, processors[:half] or processors)
        except BaseException:
            # Each second the other load looks, so that Ctrl-C does not wait for its end.
            given_up.set()
            raise
        finally:
            thread.join()
        beside = reports.get()
        if isinstance(beside, BaseException):
            raise beside
        return load, beside

    def _load(self, traffic: Traffic, server: Server, duration_s: float, processors: list[int]) -> dict[str, Any]:
        settings = self._load_settings(traffic, server, duration_s, processors)
        # Looked after each second: a load of a dead server would go on to its end and tell nothing.
        report, interrupted = run_load(self._inputs.queries, settings, lambda _: server.check_running())
        if interrupted:
            raise KeyboardInterrupt
        return report

    def _load_settings(
        self, traffic: Traffic, server: Server, duration_s: float, processors: list[int]
    ) -> LoadSettings:
        attempts = traffic.attempts_per_s
        host, port = server.endpoints()[traffic.transport if attempts is None else "dot"]
        if traffic.refused:
            port = ports.find_free_port(host)
        route = Route(
            traffic.transport,
            host,
            port,
            clients=traffic.clients,
            queries_per_session=traffic.queries_per_session,
            idle_s=None if attempts is None else ABANDONED_AFTER_S,
            resumption=traffic.resumption,
        )
        return LoadSettings(
            routes=(route,),
            schedule=closed_loop(traffic.outstanding) if attempts is None else fixed_rate(attempts),
            duration_s=duration_s,
            timeout_s=TIMEOUT_S,
            cpus=tuple(processors[: traffic.clients]),
            sessions_only=attempts is not None,
        )


def _certificates(run: RunFolder, settings: EncryptedSettings) -> dict[CertificateKey, Certificate]:
    """Make the run's certificates anew: their size is the same each time, and keys are not kept as inputs."""
    return {kind: make_certificate(run.path / "servers" / "certificates", kind) for kind in settings.certificates}
