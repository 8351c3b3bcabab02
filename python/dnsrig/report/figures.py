"""The figures that a case is judged by: where each stands in a measurement, its unit, how it is printed."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dnsrig.monitor.seconds import mean_by_second

MICRO = "\N{MICRO SIGN}"

Measurement = Mapping[str, Any]
"""One repetition of one case, as `schemas/measurement.json` describes it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a measurement.

    `of` returns None where the measurement lacks it. `text` prints a value without `unit`.
    """

    key: str
    title: str
    unit: str
    of: Callable[[Measurement], float | None]
    text: Callable[[float], str]
    least: float = 0.0
    """No value can be below; intervals of medians end there, too."""


def qps(measurement: Measurement) -> float | None:
    """Return answered queries per second."""
    return _number(_load(measurement).get("qps"))


def response_bytes_mean(measurement: Measurement) -> float | None:
    """Return the mean size of an answer's DNS message in bytes."""
    load = _load(measurement)
    if load.get("response_bytes_mean") is not None:
        return _number(load["response_bytes_mean"])
    return _share(load.get("bytes", {}).get("received"), load.get("answered"))


def query_bytes_mean(measurement: Measurement) -> float | None:
    """Return the mean size of a query's DNS message in bytes."""
    load = _load(measurement)
    return _share(load.get("bytes", {}).get("sent"), load.get("sent"))


def latency_ns(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of one latency percentile, such as `p99`."""
    return lambda measurement: _number(_load(measurement).get("latency_ns", {}).get(key))


def send_error_ns(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of one percentile of how late queries left after their time; a closed loop has no times."""
    return lambda measurement: _number((_load(measurement).get("send_error_ns") or {}).get(key))


def handshake_ns(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of one percentile of the time to open a session."""
    return lambda measurement: _number(_load(measurement).get("handshake_ns", {}).get(key))


def wire_octets(direction: str) -> Callable[[Measurement], float | None]:
    """Return a reader of the payload octets of UDP or TCP per answered query; `direction` is sent or received."""

    def read(measurement: Measurement) -> float | None:
        load = _load(measurement)
        octets = load.get("wire", {}).get(f"octets_{direction}")
        # Over UDP the payload is the message, and the generator counts messages only.
        return _share(octets or load.get("bytes", {}).get(direction), load.get("answered"))

    return read


def server_usage(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of one entry of the server's usage."""
    return lambda measurement: _number(measurement["server"].get(key))


def work_seconds(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of a time in microseconds, in seconds, of a program that was run to its end."""

    def read(measurement: Measurement) -> float | None:
        value = _number(measurement["server"].get(key))
        return value / 1e6 if value is not None and "work" in measurement else None

    return read


def work_number(key: str) -> Callable[[Measurement], float | None]:
    """Return a reader of what a program came to that was run to its end."""
    return lambda measurement: _number(measurement.get("work", {}).get(key))


def short_number(value: float) -> str:
    """Print three significant digits, with thousands separated: 1,234,567 is 1,230,000; 0.01234 is 0.0123."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 100:
        return f"{rounded:,.0f}"
    if abs(rounded) >= 10:
        return f"{rounded:.1f}"
    return f"{rounded:.2f}" if abs(rounded) >= 1 else f"{rounded:.3g}"


def ratio_text(value: float) -> str:
    """Print a ratio with two decimals, or three significant digits from 10 on."""
    return f"{value:.2f}" if value < 10 else short_number(value)


def whole_number(value: float) -> str:
    """Print a whole number with thousands separated."""
    return f"{value:,.0f}"


def duration(value_ns: float) -> str:
    """Print nanoseconds in the unit that suits them: 850 ns, 12.3 microseconds, 4.56 ms, 1.20 s."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, f"{MICRO}s")):
        if value_ns >= size:
            return f"{short_number(value_ns / size)} {unit}"
    return f"{short_number(value_ns)} ns"


def mebibytes(value: float) -> str:
    """Print bytes as MiB."""
    return f"{short_number(value / 2**20)} MiB"


def megabytes(value: float) -> str:
    """Print bytes as MB, which the published sizes of zones are in."""
    return f"{short_number(value / 1e6)} MB"


QPS = Figure("qps", "Answered queries per second", "qps", qps, short_number)
CPU = Figure(
    "server_cpu_us_per_query",
    "Server CPU per query",
    f"{MICRO}s",
    lambda measurement: _number(measurement.get("server_cpu_us_per_query")),
    short_number,
)
RESPONSE_BYTES = Figure("response_bytes_mean", "Mean response size", "bytes", response_bytes_mean, whole_number)
QUERY_BYTES = Figure("query_bytes_mean", "Mean query size", "bytes", query_bytes_mean, whole_number)
LATENCY_P50 = Figure("latency_p50_ns", "Latency, median", "", latency_ns("p50"), duration)
SEND_ERROR_P50 = Figure("send_error_p50_ns", "Queries left late by, median", "", send_error_ns("p50"), duration)
SEND_ERROR_P99 = Figure(
    "send_error_p99_ns", "Queries left late by, 99th percentile", "", send_error_ns("p99"), duration
)
LATENCY_P99 = Figure("latency_p99_ns", "Latency, 99th percentile", "", latency_ns("p99"), duration)
MEMORY = Figure("server_rss_bytes_max", "Server memory (RSS, largest)", "", server_usage("rss_bytes_max"), mebibytes)
THREADS = Figure("server_threads", "Server threads", "", server_usage("threads"), whole_number)

CPU_PER_SESSION = Figure(
    "server_cpu_us_per_session",
    "Server CPU per session",
    f"{MICRO}s",
    lambda measurement: _number(measurement.get("server_cpu_us_per_session")),
    short_number,
)
HANDSHAKE_P50 = Figure("handshake_p50_ns", "Handshake, median", "", handshake_ns("p50"), duration)
HANDSHAKE_P99 = Figure("handshake_p99_ns", "Handshake, 99th percentile", "", handshake_ns("p99"), duration)
WIRE_SENT = Figure("wire_octets_sent_per_query", "Octets sent per query", "octets", wire_octets("sent"), short_number)
WIRE_RECEIVED = Figure(
    "wire_octets_received_per_query", "Octets received per query", "octets", wire_octets("received"), short_number
)
SESSION_FIGURES = (CPU_PER_SESSION, HANDSHAKE_P50, HANDSHAKE_P99, WIRE_SENT, WIRE_RECEIVED)
"""What only loads that open sessions have."""


def resolver_fact(group: str, key: str, scale: float = 1.0) -> Callable[[Measurement], float | None]:
    """Return a reader of what a measurement of a resolver holds in one of its groups."""

    def read(measurement: Measurement) -> float | None:
        value = _number(measurement.get(group, {}).get(key))
        return None if value is None else value * scale

    return read


def for_each_query(group: str, *keys: str) -> Callable[[Measurement], float | None]:
    """Return a reader of the sum of some counters for each answered query of clients."""

    def read(measurement: Measurement) -> float | None:
        if group not in measurement:
            return None
        return _share(sum(measurement[group].get(key, 0) for key in keys), _load(measurement).get("answered"))

    return read


def side_rate(side: str, what: str, direction: str) -> Callable[[Measurement], float | None]:
    """Return a reader of octets or packets of the resolver's link to a side, per second while queries were sent."""

    def read(measurement: Measurement) -> float | None:
        counter = measurement.get("network", {}).get(side, {}).get(f"{WIRE_COUNTERS[what]}_{direction}")
        whole = _share(counter, measurement.get("machine", {}).get("wall_us", 0) / 1e6)
        return mean_by_second(measurement.get("by_second", {}), f"{side}_{what}_{direction}", whole)

    return read


def server_cpu_share(measurement: Measurement) -> float | None:
    """Return the CPUs that the server used, while queries were sent where that is known by second."""
    whole = server_usage("cpu_share")(measurement)
    return mean_by_second(measurement.get("by_second", {}), "cpu_share", whole)


WIRE_COUNTERS = {"octets": "bytes", "packets": "packets"}
"""Words for what passes a link, with the names of its counters."""
WIRE_WORDS = {"in": "from", "out": "to"}
WIRE_ENDS = {"clients": "clients", "internet": "the Internet"}


def wire(side: str, what: str, direction: str) -> Figure:
    """Return the figure of octets or packets to or from a side, per second of the load."""
    return Figure(
        f"{side}_{what}_{direction}_per_s",
        f"{what.capitalize()} {WIRE_WORDS[direction]} {WIRE_ENDS[side]} per second",
        "",
        side_rate(side, what, direction),
        short_number,
    )


def memory_growth(measurement: Measurement) -> float | None:
    """Return by how many octets the resolver's memory grew from the first second of the load to the last."""
    octets = measurement.get("by_second", {}).get("memory_octets", ())
    return float(octets[-1] - octets[0]) if len(octets) > 1 else None


def internet_share(measurement: Measurement) -> float | None:
    """Return the CPU time of the simulated Internet as a share of the resolver's."""
    return _share(measurement.get("upstream", {}).get("cpu_us"), measurement["server"].get("cpu_us"))


def internet_made(measurement: Measurement) -> float | None:
    """Return the zones and signatures that the simulated Internet made meanwhile, for each query that it was asked."""
    upstream = measurement.get("upstream", {})
    return _share(upstream.get("zones", 0) + upstream.get("signatures", 0), upstream.get("queries"))


SERVER_CPU = Figure("server_cpu_share", "Server CPU", "CPUs", server_cpu_share, short_number)
HIT_SHARE = Figure(
    "cache_hit_share",
    "Cache hits",
    "%",
    resolver_fact("resolver", "cache_hit_share", 100),
    lambda value: f"{value:.1f}",
)
CACHE_OCTETS = Figure(
    "cache_octets", "Cache, by its own account", "", resolver_fact("resolver", "cache_octets"), mebibytes
)
CACHE_ENTRIES = Figure("cache_entries", "Cache entries", "", resolver_fact("resolver", "cache_entries"), whole_number)
UPSTREAM = Figure(
    "upstream_per_query", "Upstream queries per query", "", for_each_query("upstream", "queries"), ratio_text
)
UPSTREAM_OCTETS = Figure(
    "upstream_octets_per_query",
    "Upstream octets per query, both ways",
    "octets",
    for_each_query("upstream", "query_octets", "answer_octets"),
    short_number,
)
UPSTREAM_ANSWER = Figure(
    "upstream_octets_per_answer",
    "Octets of an upstream answer",
    "octets",
    lambda measurement: _share(
        measurement.get("upstream", {}).get("answer_octets"), measurement.get("upstream", {}).get("answers")
    ),
    short_number,
)
UPSTREAM_TCP = Figure(
    "upstream_tcp_per_query",
    "Upstream queries over TCP per query",
    "",
    for_each_query("upstream", "tcp_queries"),
    lambda value: f"{value:.3g}",
)
UDP_SOCKETS = Figure("udp_sockets", "UDP sockets in use", "", resolver_fact("network", "udp_sockets"), short_number)
TCP_SOCKETS = Figure("tcp_sockets", "TCP sockets in use", "", resolver_fact("network", "tcp_sockets"), short_number)
TIME_WAIT = Figure("tcp_time_wait", "TCP in TIME-WAIT", "", resolver_fact("network", "tcp_time_wait"), short_number)
INTERNET_IN = wire("internet", "octets", "in")
WIRES = tuple(wire(side, what, direction) for side in WIRE_ENDS for what in WIRE_COUNTERS for direction in WIRE_WORDS)
"""Octets and packets of the resolver's links, to and from both sides."""
PATH_DROPPED = Figure(
    "path_dropped", "Packets dropped or refused on the path", "", resolver_fact("path", "dropped"), whole_number
)
PATH_FRAGMENTS = Figure("path_fragments", "Fragments of answers", "", resolver_fact("path", "fragments"), whole_number)
INTERNET_CPU = Figure(
    "internet_cpu_share", "CPU of the simulated Internet / of the resolver", "", internet_share, ratio_text
)
MADE_MEANWHILE = Figure(
    "internet_made_per_query",
    "Zones and signatures the simulated Internet made per upstream query",
    "",
    internet_made,
    ratio_text,
)
COLD_TO_HOT = Figure(
    "cold_to_hot_latency",
    "Mean latency of the first seconds / of the end",
    "",
    resolver_fact("cold_start", "cold_to_hot_latency"),
    ratio_text,
)
MEMORY_GROWTH = Figure(
    "memory_growth_octets", "Growth of memory under load (RSS)", "", memory_growth, mebibytes, least=-math.inf
)
HOT_AFTER = Figure("hot_after_s", "Hot after", "s", resolver_fact("cold_start", "hot_after_s"), short_number)
HOT_HITS_AFTER = Figure(
    "hot_hits_after_s",
    "Cache hits as at the end after",
    "s",
    resolver_fact("cold_start", "hot_hits_after_s"),
    short_number,
)
HOT_LATENCY_AFTER = Figure(
    "hot_latency_after_s",
    "Mean latency as at the end after",
    "s",
    resolver_fact("cold_start", "hot_latency_after_s"),
    short_number,
)
RESOLVER_FIGURES = (
    *(SERVER_CPU, HIT_SHARE, CACHE_OCTETS, CACHE_ENTRIES, UPSTREAM, UPSTREAM_OCTETS, UPSTREAM_ANSWER, UPSTREAM_TCP),
    *(UDP_SOCKETS, TCP_SOCKETS, TIME_WAIT, *WIRES, INTERNET_CPU),
    *(MADE_MEANWHILE, SEND_ERROR_P50, SEND_ERROR_P99, HOT_AFTER, HOT_HITS_AFTER),
    *(HOT_LATENCY_AFTER, COLD_TO_HOT, MEMORY_GROWTH),
    *(PATH_DROPPED, PATH_FRAGMENTS),
)
"""What only resolvers have that are measured against the simulated Internet."""

WALL = Figure("wall_s", "Time", "s", work_seconds("wall_us"), short_number)
CPU_TIME = Figure("cpu_s", "CPU time", "s", work_seconds("cpu_us"), short_number)
OUTPUT_OCTETS = Figure("output_octets", "Output", "", work_number("output_octets"), megabytes)
SIGNATURES = Figure("signatures", "Signatures in the output", "", work_number("signatures"), whole_number)
SIGNATURES_MADE = Figure("signatures_made", "Signatures made", "", work_number("made"), whole_number)
SIGNING_RATE = Figure("signing_rate", "Signatures per second", "", work_number("per_second"), short_number)
SIGNING_CPU = Figure(
    "signing_cpu_us", "CPU time of a signature", f"{MICRO}s", work_number("cpu_us_per_signature"), short_number
)
WORK_FIGURES = (WALL, CPU_TIME, OUTPUT_OCTETS, SIGNATURES, SIGNATURES_MADE, SIGNING_RATE, SIGNING_CPU)
"""What only programs have that are run to their end."""

FIGURES: dict[str, Figure] = {
    figure.key: figure
    for figure in (
        *(QPS, CPU, RESPONSE_BYTES, QUERY_BYTES, LATENCY_P50, LATENCY_P99, MEMORY, THREADS),
        *SESSION_FIGURES,
        *RESOLVER_FIGURES,
        *WORK_FIGURES,
    )
}


def _load(measurement: Measurement) -> Mapping[str, Any]:
    """Return the report of the load; empty where a program was run to its end instead."""
    found: Mapping[str, Any] = measurement.get("load", {})
    return found


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _share(total: object, count: object) -> float | None:
    total_number, count_number = _number(total), _number(count)
    return total_number / count_number if total_number is not None and count_number else None
