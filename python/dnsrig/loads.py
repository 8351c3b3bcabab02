"""Loads: the settings that the load generator takes, and running it."""

import ipaddress
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dnsrig import _core
from dnsrig.errors import InputError

TRANSPORTS = ("udp", "tcp", "dot", "doh", "doq")
"""Transports, in the order of their standards."""
STANDARD_PORTS: Mapping[str, int] = {"udp": 53, "tcp": 53, "dot": 853, "doh": 443, "doq": 853}
"""Ports of the transports (RFC 1035, 7858, 8484, 9250)."""
LARGEST_SOURCES = 65_536
"""Local addresses taken of a prefix, at most."""


@dataclass(frozen=True, slots=True)
class Tls:
    """How TLS is used, alone or within QUIC."""

    versions: str = "any"
    """`any` (1.3 and 1.2), `1.2` or `1.3`."""
    cipher_suites: tuple[str, ...] = ()
    """Cipher suites offered, by their IANA names; none: the library's choice."""
    roots: str | None = None
    """PEM file with the certificates against which the server's is verified; None: it is not verified."""
    server_name: str | None = None
    """Name sent as SNI and verified; None: the server's address."""


@dataclass(frozen=True, slots=True)
class Http:
    """How HTTP is used (RFC 8484)."""

    path: str = "/dns-query"
    method: str = "post"


@dataclass(frozen=True, slots=True)
class Route:
    """A way for a share of the queries: a transport to a server."""

    transport: str
    server: str
    port: int
    weight: float = 1.0
    """Share of the queries, in proportion to those of the other routes."""
    clients: int | None = None
    """Sockets or sessions over all threads; None: one a thread."""
    queries_per_session: int | None = None
    """Queries after which a session is closed and the next one opened; None: no limit."""
    idle_s: float | None = None
    """Seconds after which a session without a query in flight is closed; None: never."""
    resumption: bool = True
    """Whether a client resumes its earlier TLS session."""
    tls: Tls = field(default_factory=Tls)
    http: Http = field(default_factory=Http)


def closed_loop(outstanding: int, max_rate_qps: float | None = None) -> dict[str, Any]:
    """Give the schedule that keeps `outstanding` queries in flight, at a mean rate of at most `max_rate_qps`."""
    return {"kind": "closed_loop", "outstanding": outstanding, "max_rate_qps": max_rate_qps}


def fixed_rate(rate_qps: float) -> dict[str, Any]:
    """Give the schedule of evenly spaced queries."""
    return {"kind": "fixed_rate", "rate_qps": rate_qps}


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """What a load is asked to do."""

    routes: tuple[Route, ...]
    schedule: Mapping[str, Any]
    duration_s: float | None = None
    queries: int | None = None
    passes: int | None = None
    timeout_s: float = 5.0
    threads: int | None = None
    """Generator threads; None: one for each of `cpus`, or one."""
    cpus: tuple[int, ...] = ()
    """Processors that threads are pinned to, in turn."""
    sources: tuple[str, ...] = ()
    """Local addresses of clients, in turn."""
    keep_clients: bool = False
    """Each client of the stream sends its own queries, from a socket or session of its own."""
    seed: int = 0
    """Of all that is random."""
    cookies: bool = False
    """Clients send cookies, and learn the server's (RFC 7873)."""
    randomise_case: bool = False
    """Letters of the question get random case."""
    tsig: str | None = None
    """Key to sign queries with, as `[algorithm:]name:secret`, the secret in base64 (RFC 8945)."""
    tcp_fallback: bool = False
    """Queries over UDP whose answer is truncated are sent again over TCP."""
    sessions_only: bool = False
    """The schedule opens sessions instead of sending queries."""
    hold_sessions: bool = False
    """Those stay open until the load ends; without it a client closes its session before it opens the next."""
    allow_any_target: bool = False

    def to_json(self) -> str:
        """Give the settings as `_core.load` takes them."""
        values = asdict(self)
        values["stop"] = {name: values.pop(name) for name in ("duration_s", "queries", "passes")}
        return json.dumps(values)


def run_load(
    stream: _core.QueryStream,
    settings: LoadSettings,
    on_second: Callable[[dict[str, Any]], None] | None = None,
    on_start: Callable[[float], None] | None = None,
) -> tuple[dict[str, Any], bool]:
    """Run a load; give its report, and whether Ctrl-C ended it.

    `on_second` gets each second's figures, and `on_start` before that how many seconds ago the load began.
    """

    def pass_on(interval: str) -> None:
        if on_second is not None:
            on_second(json.loads(interval))

    text, interrupted = _core.load(stream, settings.to_json(), pass_on if on_second is not None else None, on_start)
    report: dict[str, Any] = json.loads(text)
    return report, interrupted


def find_breaking_point(
    stream: _core.QueryStream,
    settings: LoadSettings,
    goal: Mapping[str, Any],
    limits: Mapping[str, float],
    on_trial: Callable[[dict[str, Any]], None] | None = None,
) -> tuple[dict[str, Any], bool]:
    """Search for the highest rate that a server carries; give the report, and whether Ctrl-C ended the search.

    `goal` and `limits` are as docs/decisions/breaking-point.md names them; what `goal` leaves out has its default.
    `on_trial` gets each trial.
    """

    def pass_on(trial: str) -> None:
        if on_trial is not None:
            on_trial(json.loads(trial))

    text, interrupted = _core.find_breaking_point(
        stream, settings.to_json(), json.dumps(goal), json.dumps(limits), pass_on if on_trial is not None else None
    )
    report: dict[str, Any] = json.loads(text)
    return report, interrupted


def source_addresses(prefixes: Sequence[str]) -> tuple[str, ...]:
    """List the addresses of prefixes such as 127.1.0.0/24, without network and broadcast address.

    Raises:
        InputError: one is no address or prefix.

    """
    found: list[str] = []
    for prefix in prefixes:
        try:
            network = ipaddress.ip_network(prefix, strict=False)
        except ValueError:
            raise InputError(f"{prefix!r} is not an address or a prefix such as 127.1.0.0/24") from None
        hosts = network.hosts() if network.num_addresses > 1 else iter([network.network_address])
        for host in hosts:
            if len(found) == LARGEST_SOURCES:
                return tuple(found)
            found.append(str(host))
    return tuple(found)
