"""A load's intervals as rows of a table: one an interval and transport. The columns are the same for every load."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnsrig import __version__
from dnsrig.report.load_series.context import ALL_TRANSPORTS, LoadClock, LoadContext, transport_names

COUNTS = (
    "sent",
    "answered",
    "timed_out",
    "refused",
    "late",
    "strays",
    "truncated",
    "bytes_sent",
    "bytes_received",
)
TIMES = ("latency_ns", "send_error_ns", "handshake_ns")
TIME_FIGURES = ("least", "mean", "p50", "p90", "p99", "p999", "max")
CONNECTIONS = ("tried", "opened", "failed", "closed_by_peer", "closed", "full", "resumed", "early_data")
RCODES = (
    "NOERROR",
    "FORMERR",
    "SERVFAIL",
    "NXDOMAIN",
    "NOTIMP",
    "REFUSED",
    "YXDOMAIN",
    "YXRRSET",
    "NXRRSET",
    "NOTAUTH",
    "NOTZONE",
    "BADVERS",
    "BADCOOKIE",
)
"""RCODEs with a column of their own; `rcode_other` counts the rest."""

Row = dict[str, Any]


def _time_column(times: str, figure: str) -> str:
    return f"{times.removesuffix('_ns')}_{figure}_ns"


SCHEMA = pa.schema(
    [
        pa.field("phase", pa.string(), nullable=False),
        pa.field("transport", pa.string(), nullable=False),
        pa.field("start_unix_ns", pa.int64(), nullable=False),
        pa.field("start_s", pa.float64(), nullable=False),
        pa.field("length_s", pa.float64(), nullable=False),
        pa.field("answered_qps", pa.float64()),
        *[pa.field(name, pa.int64(), nullable=False) for name in COUNTS],
        *[pa.field(_time_column(times, figure), pa.int64()) for times in TIMES for figure in TIME_FIGURES],
        *[pa.field(f"connections_{name}", pa.int64(), nullable=False) for name in CONNECTIONS],
        *[pa.field(f"rcode_{name}", pa.int64(), nullable=False) for name in (*RCODES, "other")],
    ]
)


def rows(report: Mapping[str, Any], clock: LoadClock) -> Iterator[Row]:
    """Give the rows of a load's report, in the order of time; of an interval, those of single transports first."""
    for interval in report["intervals"]:
        parts = interval.get("transports", [])
        for name, part in zip(transport_names(parts), parts, strict=True):
            yield _row(name, interval, part, clock)
        yield _row(ALL_TRANSPORTS if parts else report["transport"], interval, interval, clock)


def as_csv(report: Mapping[str, Any], clock: LoadClock) -> bytes:
    """Give the table as CSV (RFC 4180, but lines end in LF): a line of names, then the rows; unknown is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, SCHEMA.names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(report, clock))
    return text.getvalue().encode()


def as_parquet(report: Mapping[str, Any], context: LoadContext, clock: LoadClock) -> bytes:
    """Give the table as a Parquet file whose metadata says what load it is of."""
    metadata = {
        "dnsrig.version": __version__,
        "dnsrig.argv": json.dumps(context.argv),
        "dnsrig.seed": str(context.settings.seed),
        "dnsrig.schedule": json.dumps(report["schedule"]),
        "dnsrig.bottleneck": report["bottleneck"],
        "dnsrig.evidence": json.dumps(report["evidence"]),
        "dnsrig.tainted": json.dumps(report["tainted"]),
    }
    table = pa.Table.from_pylist(list(rows(report, clock)), schema=SCHEMA.with_metadata(metadata))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return bytes(sink.getvalue())


def _row(transport: str, interval: Mapping[str, Any], figures: Mapping[str, Any], clock: LoadClock) -> Row:
    length_s = interval["length_s"]
    rcodes = figures["rcodes"]
    known = {f"rcode_{name}": rcodes.get(name, 0) for name in RCODES}
    return {
        "phase": interval["phase"],
        "transport": transport,
        "start_unix_ns": clock.at_ns(interval["start_s"]),
        "start_s": interval["start_s"],
        "length_s": length_s,
        "answered_qps": figures["answered"] / length_s if length_s > 0 else None,
        **{name: figures[name] for name in COUNTS},
        **{_time_column(times, figure): figures[times][figure] for times in TIMES for figure in TIME_FIGURES},
        **{f"connections_{name}": figures["connections"][name] for name in CONNECTIONS},
        **known,
        "rcode_other": sum(rcodes.values()) - sum(known.values()),
    }
