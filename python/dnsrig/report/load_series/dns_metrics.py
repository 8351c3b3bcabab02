"""Objects of the DNS-OARC dns-metrics form (https://github.com/DNS-OARC/dns-metrics), made from a load's figures.

Names and units are those of its dns-metrics.schema.json. What that does not name is in each object's `dnsrig`.
docs/guide/load-output.md says how every figure is mapped, and where the form leaves a choice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from dnsrig import __version__
from dnsrig.report.load_series.context import LoadClock, LoadContext, transport_names

SCHEMA_VERSION = 20240530
"""Date of the last change to the schema (commit b433f35), which states no version itself."""
NANOSECONDS_PER_SECOND = 1_000_000_000
INTERVAL_S = 1.0
"""Length of an interval of a load."""

CONNECTION_TYPES: Mapping[str, str] = {
    "udp": "udp",
    "tcp": "tcp",
    "dot": "tls_conn",
    "doh": "tls_conn",
    "doq": "quic_conn",
}
"""The form's connection types; it has none of its own for HTTPS."""
SOCKET_ERRORS = ("send_error", "unreachable", "port_unreachable", "no_port", "no_file")
"""Refusals that are errors of a socket, whatever the transport above it."""

_PERCENTILES = ("p50", "p90", "p99", "p999")

Object = dict[str, Any]


def header(run_id: str, context: LoadContext) -> Object:
    """Make the first object of a file."""
    settings = context.settings
    routes = [asdict(route) for route in settings.routes]
    return {
        "runid": run_id,
        "type": "header",
        "schema_version": SCHEMA_VERSION,
        "generator": "dnsrig",
        "generator_version": __version__,
        "generator_params": list(context.argv[1:]),
        "time_units_per_sec": NANOSECONDS_PER_SECOND,
        "stats_interval": INTERVAL_S,
        "timeout": settings.timeout_s,
        "dnsrig": {
            "seed": settings.seed,
            "schedule": dict(settings.schedule),
            "routes": [{name: route[name] for name in ("transport", "server", "port", "weight")} for route in routes],
        },
    }


def periodic(run_id: str, interval: Mapping[str, Any], context: LoadContext, clock: LoadClock) -> Iterator[Object]:
    """Make the objects of one interval: each transport's where the load has several, and last the one over all."""
    span = {
        "since": clock.at_ns(interval["start_s"]),
        "until": clock.at_ns(interval["start_s"] + interval["length_s"]),
    }

    def stats(figures: Mapping[str, Any]) -> Object:
        return {
            "type": "stats_periodic",
            **span,
            **_counts(figures, unexpected=figures["strays"], abandoned=0),
            **_latency("response_latency", figures["latency_ns"]),
        }

    def own(figures: Mapping[str, Any]) -> Object:
        return {
            "phase": interval["phase"],
            "refused": figures["refused"],
            "truncated": figures["truncated"],
            "bytes_sent": figures["bytes_sent"],
            "bytes_received": figures["bytes_received"],
            **_latency("send_error_ns", figures["send_error_ns"]),
        }

    parts = interval.get("transports", [])
    for name, part in zip(transport_names(parts), parts, strict=True):
        connections = {"conn_info": _connections(part["transport"], part)}
        yield {"runid": run_id, "subid": name, **stats(part), **connections, "dnsrig": own(part)}
    connections = {} if parts else {"conn_info": _connections(context.settings.routes[0].transport, interval)}
    yield {"runid": run_id, **stats(interval), **connections, "dnsrig": own(interval)}


def closing(run_id: str, report: Mapping[str, Any], clock: LoadClock) -> Iterator[Object]:
    """Make the objects that end a file: events, each transport's sum where there are several, and the sum over all."""
    verdict = "; ".join([report["bottleneck"], *report["evidence"]])
    yield {"runid": run_id, "type": "event", "msg_type": "bottleneck", "msg": verdict}
    for reason in report["tainted"]:
        yield {"runid": run_id, "type": "event", "msg_type": "tainted", "msg": reason}
    end_s = max((entry["start_s"] + entry["length_s"] for entry in report["intervals"]), default=0.0)
    span = {"since": clock.at_ns(0.0), "until": clock.at_ns(end_s)}
    parts = report.get("transports", [])
    for name, part in zip(transport_names(parts), parts, strict=True):
        yield {"runid": run_id, "subid": name, **_sum(part, span), **_sum_connections(part)}
    connections = {} if parts else _sum_connections(report)
    yield {"runid": run_id, **_sum(report, span), **connections}


def _sum(figures: Mapping[str, Any], span: Mapping[str, int]) -> Object:
    unexpected = figures["unmatched"] + figures["malformed"]
    own = {
        "refused": figures["refused"],
        "abandoned": figures["abandoned"],
        "moved_to_tcp": figures["moved_to_tcp"] if "moved_to_tcp" in figures else figures["moved"],
        "qps": figures["qps"],
        "truncated": figures["truncated"],
        "bytes_sent": figures["bytes"]["sent"],
        "bytes_received": figures["bytes"]["received"],
        **_latency("send_error_ns", figures["send_error_ns"]),
        "latency_histogram": figures["latency_histogram"],
    }
    return {
        "type": "stats_sum",
        **span,
        **_counts(figures, unexpected=unexpected, abandoned=figures["abandoned"]),
        **_latency("response_latency", figures["latency_ns"]),
        "dnsrig": own,
    }


def _counts(figures: Mapping[str, Any], *, unexpected: int, abandoned: int) -> Object:
    return {
        "queries": figures["sent"],
        "responses": figures["answered"],
        "timeouts": figures["timed_out"],
        "interrupted": figures["refused"] + abandoned,
        "unexpected": unexpected,
        "discarded": figures["late"],
        "response_rcodes": dict(figures["rcodes"]),
    }


def _latency(name: str, distribution: Mapping[str, int | None]) -> Object:
    """Make `name` of the times that are known: the form has no null."""
    known = {
        "avg": distribution["mean"],
        "min": distribution["least"],
        "max": distribution["max"],
        **{percentile: distribution[percentile] for percentile in _PERCENTILES},
    }
    times = {key: time_ns for key, time_ns in known.items() if time_ns is not None}
    return {name: times} if times else {}


def _connections(transport: str, figures: Mapping[str, Any]) -> Object:
    """Make the connection information that both intervals and sums have."""
    info: Object = {"type": CONNECTION_TYPES[transport]}
    if transport == "udp":
        return info
    connections = figures["connections"]
    info["handshakes"] = connections["opened"]
    info["handshakes_failed"] = connections["failed"]
    if transport != "tcp":
        info["resumption"] = {"established": connections["resumed"]}
    latency = _latency("handshake", figures["handshake_ns"])
    if latency:
        info["latency"] = latency
    return info


def _sum_connections(figures: Mapping[str, Any]) -> Object:
    info = _connections(figures["transport"], figures)
    wire = figures["wire"]
    if any(wire.values()):
        info["packets_sent"] = wire["packets_sent"]
        info["packets_received"] = wire["packets_received"]
    info["socket_errors"] = sum(figures["refusals"].get(name, 0) for name in SOCKET_ERRORS)
    return {"conn_info": info}
