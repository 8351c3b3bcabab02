"""Rows 1 to 5: against dnsperf."""

import sys
from collections.abc import Iterator
from dataclasses import replace

from dnsrig.servers.registry import driver
from dnsrig.servers.transports import EncryptedTransport

from targets.generators import Bench, Load, Result
from targets.pairs import Comparison, compare
from targets.servers import echo, serving, title
from targets.verdicts import Verdict, at_least, at_most

CLOSED_LOOP = Load("UDP, closed loop of 100")
FIXED_RATE = Load("UDP, fixed 50,000 q/s", outstanding=1000, rate_qps=50_000, at_least_s=6.0)
REUSED: dict[EncryptedTransport, tuple[Load, ...]] = {
    "dot": (Load("DoT, 10 sessions, closed loop of 100", "dot", sessions=10),),
    "doh": (
        Load("DoH POST, 10 sessions, closed loop of 100", "doh", sessions=10),
        Load("DoH GET, 10 sessions, closed loop of 100", "doh", sessions=10, http_get=True),
    ),
}
ENCRYPTED_SERVERS = ("nsd", "bind", "embedded")
NEW_SESSIONS = Load(
    "DoT, 100 sessions at once, one query each", "dot", sessions=100, outstanding=100, one_query_per_session=True
)
"""So many keep a core busy although NSD and BIND hold each answer back for some 40 ms, until the client acknowledges
the session tickets that they send just before it (Nagle's algorithm, RFC 896). dnsperf is slower with 10 and with 300.
"""
Measured = tuple[Comparison, list[Verdict]]


def _qps(run: Result) -> float:
    return run.qps


def _cpu(run: Result) -> float:
    return run.cpu_us_per_query


def _per_cpu_s(run: Result) -> float:
    return run.per_cpu_s


def _rate_verdict(row: int, comparison: Comparison, bound: float) -> Verdict:
    return Verdict(
        row,
        comparison.subject,
        f"{comparison.load.name}: answered q/s",
        f">= {bound} x",
        comparison.said_ratio(_qps),
        at_least(bound, comparison.ratio(_qps)),
        comparison.losses(),
    )


def _cpu_verdict(row: int, comparison: Comparison, bound: float) -> Verdict:
    return Verdict(
        row,
        comparison.subject,
        f"{comparison.load.name}: generator CPU us a query",
        f"<= {bound} x",
        comparison.said_ratio(_cpu),
        at_most(bound, comparison.ratio(_cpu)),
        comparison.losses(),
    )


def _with_rate(comparison: Comparison) -> str:
    """Say which rates were observed: a figure of CPU is worth little if the rates are far apart."""
    observed = f"a second: {comparison.said_ratio(_qps)}"
    lost = comparison.losses()
    return f"{observed}; {lost}" if lost else observed


def closed_loop_echo(bench: Bench) -> Iterator[Measured]:
    """Row 1: answered queries a second of one generator core."""
    with echo(bench) as port:
        comparison = compare(bench, "bare UDP echo", port, CLOSED_LOOP)
        yield comparison, [_rate_verdict(1, comparison, 1.7)]
    with echo(bench, offload=False) as port:
        comparison = compare(bench, "the same, each answer sent on its own", port, CLOSED_LOOP)
        yield comparison, [_rate_verdict(1, comparison, 1.0)]


def fixed_rate_echo(bench: Bench) -> Iterator[Measured]:
    """Row 2: generator CPU for each query at 50,000 q/s."""
    with echo(bench) as port:
        comparison = compare(bench, "bare UDP echo", port, FIXED_RATE)
        yield comparison, [_cpu_verdict(2, comparison, 0.4)]


def udp_servers(bench: Bench) -> Iterator[Measured]:
    """Row 3: NSD and Knot DNS."""
    for name in _installed("nsd", "knot"):
        with serving(bench, name) as server:
            comparison = compare(bench, title(server), server.address[1], CLOSED_LOOP)
            yield comparison, [_rate_verdict(3, comparison, 1.0), _cpu_verdict(3, comparison, 0.6)]


def reused_sessions(bench: Bench) -> Iterator[Measured]:
    """Row 4: generator CPU for each query over DoT and DoH with sessions that stay."""
    for name in _installed(*ENCRYPTED_SERVERS):
        installation = driver(name).find()
        assert installation is not None
        able = driver(name).encrypted_transports(installation) & REUSED.keys()
        with serving(bench, name, able) as server:
            for transport, loads in REUSED.items():
                for load in loads if transport in able else ():
                    comparison = compare(bench, title(server), server.endpoints()[transport][1], load)
                    verdict = _cpu_verdict(4, comparison, 0.6)
                    yield comparison, [replace(verdict, note=_with_rate(comparison))]


def new_sessions(bench: Bench) -> Iterator[Measured]:
    """Row 5: full handshakes a second over DoT that one generator core can drive.

    The server's core signs for each handshake and is as likely to be the bottleneck as the generator's. What the
    generator's core can drive is therefore taken from the CPU time that a handshake costs it.
    """
    for name in _installed(*ENCRYPTED_SERVERS):
        with serving(bench, name, ["dot"]) as server:
            comparison = compare(bench, title(server), server.endpoints()["dot"][1], NEW_SESSIONS)
            verdict = Verdict(
                5,
                comparison.subject,
                f"{NEW_SESSIONS.name}: handshakes a CPU second of the generator",
                ">= 1.5 x",
                comparison.said_ratio(_per_cpu_s),
                at_least(1.5, comparison.ratio(_per_cpu_s)),
                _with_rate(comparison),
            )
            yield comparison, [verdict]


def _installed(*names: str) -> Iterator[str]:
    for name in names:
        kind = driver(name)
        if kind.find() is None:
            print(f"not measured: {kind.title} (install the Debian package {kind.package})", file=sys.stderr)
        else:
            yield name
