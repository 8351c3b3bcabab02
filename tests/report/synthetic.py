"""Made-up but plausible runs: a server model with noise, drift and taints, from one seed."""

import base64
import json
import math
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from dnsrig.monitor.sampler import SERIES_SCHEMA
from dnsrig.runs.folder import RunFolder

TITLES = {"bind": "BIND 9", "nsd": "NSD", "knot": "Knot DNS"}
VERSIONS = {"bind": "9.18.33", "nsd": "4.6.1", "knot": "3.2.6"}
# CPU microseconds of an unsigned answer; of a signature more; of a hash iteration.
COST = {"bind": (9.0, 1.6, 0.24), "nsd": (2.6, 0.3, 0.21), "knot": (2.9, 0.35, 0.20)}
SIZES = {
    ("none", "existence"): 62, ("none", "denial"): 104, ("none", "normal"): 66,
    ("nsec", "existence"): 236, ("nsec", "denial"): 641, ("nsec", "normal"): 268,
    ("nsec3", "existence"): 236, ("nsec3", "denial"): 862, ("nsec3", "normal"): 286,
}  # fmt: skip
HOST = {
    "schema": "dnsrig-host/1",
    "time": "2026-11-21T21:45:00+01:00",
    "dnsrig": "0.1.0",
    "python": "3.11.2",
    "kernel": "6.1.0-18-amd64",
    "architecture": "x86_64",
    "distribution": "Debian GNU/Linux 12 (bookworm)",
    "cpu": {
        "model": "Intel(R) Xeon(R) Silver 4310 CPU @ 2.10GHz",
        "online": 4, "cores": 4, "usable": [0, 1, 2, 3],
        "smt": False, "governor": "performance", "max_khz": 3300000, "cache": "18432 KB",
        "hypervisor_flag": False, "vulnerability_mitigations": {"spectre_v2": "Mitigation: Enhanced IBRS"},
    },
    "memory_bytes": 16 * 2**30,
    "virtualisation": None,
    "cgroup_version": "2",
    "clocksource": "tsc",
    "mtu_bytes": {"lo": 65536, "eth0": 1500},
    "sysctl": {"net.core.rmem_default": "212992", "net.core.rmem_max": "212992"},
    "load_average": [0.05, 0.07, 0.02],
    "warnings": [],
}  # fmt: skip


@dataclass
class Model:
    """What to make up. `cpu_factor` changes the servers with these labels."""

    servers: tuple = ("bind", "nsd", "knot")
    denials: tuple = (("none", None), ("nsec", None), ("nsec3", 5))
    streams: tuple = ("existence", "denial", "normal")
    repetitions: int = 5
    seed: int = 20261121
    noise: float = 0.012
    cpu_factor: dict = field(default_factory=dict)
    bytes_added: int = 0
    threads: int = 1
    seconds: int = 5
    tainted: bool = True
    argv: tuple = ("dnsrig", "run", "denial-cost", "--server", "bind,nsd,knot")
    study: str = "denial-cost"
    settings: dict = field(default_factory=lambda: {"repetitions": 5, "server_threads": 1})


def make_run(parent, model=None, *, name=None, status="complete"):
    model = model or Model()
    run = RunFolder.create(parent, model.study, argv=model.argv, settings=model.settings, seed=model.seed)
    if name:
        run = RunFolder(run.path.rename(parent / name))
    (run.path / "host.json").write_text(json.dumps(HOST))
    rng = np.random.default_rng(model.seed)
    order = 0
    for repetition in range(model.repetitions):
        cases = [(s, d, q) for d in model.denials for s in model.servers for q in model.streams]
        for server, denial, stream in cases if repetition % 2 == 0 else reversed(cases):
            measurement, series = measure(model, rng, server, denial, stream, repetition=repetition, order=order)
            run.record(measurement, series)
            order += 1
    run.finish(status, None if status == "complete" else "Ctrl-C")
    manifest = run.manifest()
    manifest |= {"started": "2026-11-21T21:45:00+01:00", "versions": {"dnsrig": "0.1.0", "python": "3.11.2"}}
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    return run


def measure(model, rng, server, denial, stream, *, repetition, order):
    kind, iterations = denial
    program = server.partition("#")[0]
    base, signature, per_iteration = COST[program]
    denied = {"existence": 0.0, "denial": 1.0, "normal": 0.08}[stream]
    cpu_us = base + (kind != "none") * signature * (1 + 2 * denied)
    if kind == "nsec3":
        cpu_us += denied * 3 * (iterations + 1) * per_iteration
    cpu_us *= model.cpu_factor.get(server, 1.0) * rng.lognormal(0, model.noise) * (1 + 0.01 * repetition)
    generator_us = 1.6
    generator_bound = cpu_us < generator_us * 1.7
    qps = model.threads * 0.97e6 / max(cpu_us, generator_us * 1.7) * rng.lognormal(0, model.noise)
    answered = int(qps * model.seconds)
    timed_out = 37 if generator_bound and repetition == 2 else 0
    size = SIZES[kind, stream] + model.bytes_added * (kind != "none")
    tainted = []
    if model.tainted and program == "nsd" and kind == "none" and repetition in {1, 3}:
        tainted.append("another process used 31 % of the generator's CPU")
    name = f"{server.replace('#', '_')}-{kind}{'' if iterations is None else f'-{iterations}'}-{stream}"
    p50 = 100 / qps * 1e9
    load = {
        "server": "127.0.0.1:35353",
        "sent": answered + timed_out,
        "answered": answered,
        "timed_out": timed_out,
        "refused": 0,
        "unmatched": 0,
        "malformed": 0,
        "truncated": 0,
        "qps": answered / model.seconds,
        "duration_s": float(model.seconds),
        "rcodes": {"NOERROR": answered - int(denied * answered), "NXDOMAIN": int(denied * answered)},
        "latency_ns": {"mean": int(p50 * 1.1), "p50": int(p50), "p90": int(p50 * 1.5), "p99": int(p50 * 2.6),
                       "p999": int(p50 * 6), "max": int(p50 * 30)},
        "bytes": {"sent": 49 * (answered + timed_out), "received": size * answered},
        "generator": {"cpu_us_per_query": generator_us, "socket_drops": 0},
        "latency_histogram": base64.b64encode(json.dumps([p50, 0.4]).encode()).decode(),
        "intervals": intervals(rng, model.seconds, answered / model.seconds, timed_out),
    }  # fmt: skip
    return {
        "case_id": name,
        "case": {
            "server": server,
            "server_title": TITLES[program],
            "server_version": VERSIONS[program],
            "denial": kind,
            "iterations": iterations,
            "stream": stream,
        },
        "repetition": repetition,
        "order": order,
        "started": f"2026-11-21T21:{45 + repetition}:{order % 60:02d}+00:00",
        "load": load,
        "server": {
            "wall_us": model.seconds * 1e6, "cpu_us": cpu_us * answered,
            "cpu_share": cpu_us * answered / model.seconds / 1e6, "cpu_source": "process CPU clocks",
            "rss_bytes_max": int(12 * 2**20 * (1 + 0.001 * rng.standard_normal())),
            "pss_bytes": 9 * 2**20, "threads": model.threads + 3, "processes": 1,
        },
        "generator": {"wall_us": model.seconds * 1e6, "cpu_us": generator_us * answered, "cpu_share": 0.9},
        "machine": {
            "cpu_share": 1.9, "steal_share": 0.0, "udp_receive_errors": 0, "udp_receive_buffer_errors": 0,
            "packets_in": 2 * answered, "bytes_in": answered * (size + 49),
        },
        "monitor": {"cost_share": 0.0016, "late_p99_ns": 210_000, "interval_s": 0.1, "ended_ns": {}},
        "server_cpu_us_per_query": cpu_us,
        "bottleneck": "generator" if generator_bound else "server",
        "evidence": ["The server used 97 % of its CPU."],
        "tainted": tainted,
        "remarks": ["query logging off", "rate limiting off"][: 1 if program == "bind" else 2],
    }, series(rng, model.seconds, cpu_us * answered / model.seconds / 1e6)  # fmt: skip


def intervals(rng, seconds, qps, timed_out):
    rows = [
        {"phase": "measure", "start_s": float(second), "length_s": 1.0,
         "sent": (answered := int(qps * (1 + 0.01 * rng.standard_normal()))), "answered": answered,
         "timed_out": 0, "refused": 0}
        for second in range(seconds)
    ]  # fmt: skip
    return [*rows, {"phase": "drain", "start_s": float(seconds), "length_s": 0.01, "sent": 0, "answered": 60,
                    "timed_out": timed_out, "refused": 0}]  # fmt: skip


def series(rng, seconds, share):
    rows = []
    for index in range(seconds * 10 + 1):
        for subject in ("server", "machine"):
            rows.append(
                {
                    "time_ns": 5_000_000_000 + index * 100_000_000,
                    "subject": subject,
                    "cpu_us": share * index * 1e5 if subject == "server" else None,
                    "cpu_share": 0.0 if index == 0 else share * (1 + 0.02 * rng.standard_normal()),
                    "rss_bytes": 12 * 2**20 if subject == "server" else None,
                }
            )
    return pa.Table.from_pylist(rows, schema=SERIES_SCHEMA)


def percentiles(histograms, wanted):
    """Stand in for dnsrig._core.latency_percentiles: the quantiles of the log-normal that `measure` wrote."""
    p50, sigma = np.mean([json.loads(base64.b64decode(text)) for text in histograms], axis=0)
    return [int(p50 * math.exp(sigma * _normal_quantile(share / 100))) for share in wanted]


def _normal_quantile(share):
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 * math.erfc(-middle / math.sqrt(2)) < share else (low, middle)
    return (low + high) / 2
