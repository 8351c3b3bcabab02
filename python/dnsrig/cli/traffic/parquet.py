"""Transactions in Parquet: a row for each query, with what is known of its answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dnsrig import _core
from dnsrig.cli.traffic.captures import file_beside
from dnsrig.errors import InputError

NONE = 0xFFFF
"""Stands for a number that is not known, where the column says so."""
_TYPES = {
    "time": pa.timestamp("ns", tz="UTC"),
    "duration": pa.duration("ns"),
    "number": pa.uint16(),
    "number_or_none": pa.uint16(),
    "text": pa.string(),
    "octets": pa.binary(),
}
_READ = {
    "time": pa.int64(),
    "id": pa.uint16(),
    "client_port": pa.uint16(),
    "server_port": pa.uint16(),
    "client": pa.string(),
    "server": pa.string(),
    "transport": pa.string(),
    "query": pa.binary(),
}
"""The columns that make a query, as the core takes them."""
BATCH_ROWS = 65_536


def write(files: Sequence[Path], read: str, settings: Mapping[str, Any], output: Path) -> dict[str, Any]:
    """Write the transactions of `files` to a Parquet file; give what was counted. `read` is as the core takes it."""
    if str(output) == "-":
        raise InputError("Parquet cannot be written to standard output: name a file by -f")
    if output.exists() and not output.is_file():
        raise InputError(f"{output} is no regular file, which Parquet needs: name another file by -f")
    batches = _core.TransactionReader(files, read, json.dumps(settings))
    with file_beside(output) as partial:
        writer: pq.ParquetWriter | None = None
        try:
            for columns in batches:
                table = pa.record_batch({name: _array(kind, values, ends) for name, kind, values, ends in columns})
                writer = writer or pq.ParquetWriter(partial, table.schema, compression="zstd")
                writer.write_batch(table)
            if writer is None:
                raise InputError("no query to be written: the files have answers only, or nothing")
        finally:
            if writer is not None:
                writer.close()
    counts: dict[str, Any] = json.loads(batches.counts())
    return counts


def _array(kind: str, values: bytes, ends: bytes | None) -> pa.Array:
    """Make an array of a column as the core gives it."""
    data = pa.py_buffer(values)
    if ends is not None:
        rows = len(ends) // 4 - 1
        return pa.Array.from_buffers(_TYPES[kind], rows, [None, pa.py_buffer(ends), data])
    if kind == "duration":
        numbers = np.frombuffer(values, np.int64)
        return pa.array(numbers, mask=numbers < 0).cast(_TYPES[kind])
    if kind == "number_or_none":
        numbers = np.frombuffer(values, np.uint16)
        return pa.array(numbers, mask=numbers == NONE)
    width = _TYPES[kind].bit_width // 8
    return pa.Array.from_buffers(_TYPES[kind], len(values) // width, [None, data])


def read(files: Sequence[Path], output: Path, form: str) -> dict[str, Any]:
    """Write the queries of Parquet files that `write` made as a capture, a query file or binary messages."""
    if form == "parquet":
        raise InputError("from Parquet to Parquet there is nothing to convert: say by --to what is to be written")
    writer = _core.TransactionWriter(output, form)
    for file in files:
        for batch in _batches(file):
            columns = {name: _plain(batch, name, file) for name in _READ}
            numbers = [_fixed(columns[name]) for name in ("time", "id", "client_port", "server_port")]
            texts = [
                part for name in ("client", "server", "transport", "query") for part in _ends_and_data(columns[name])
            ]
            writer.write(*numbers, *texts)
    written: dict[str, Any] = json.loads(writer.finish())
    return written


def _batches(file: Path) -> Iterator[pa.RecordBatch]:
    try:
        parquet = pq.ParquetFile(file)
        missing = set(_READ) - set(parquet.schema_arrow.names)
        if missing:
            raise InputError(
                f"{file} has no column {', '.join(sorted(missing))}: it is not of `dnsrig traffic convert`"
            )
        yield from parquet.iter_batches(BATCH_ROWS, columns=list(_READ))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{file}: cannot be read as Parquet: {error}") from error


def _plain(batch: pa.RecordBatch, name: str, file: Path) -> pa.Array:
    """Give a column in the type that the core takes."""
    try:
        column = batch.column(name).cast(_READ[name])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"{file}: column {name} is not what `dnsrig traffic convert` writes: {error}") from error
    if column.null_count:
        raise InputError(f"{file}: column {name} has rows without a value")
    return column


def _fixed(column: pa.Array) -> bytes:
    width = column.type.bit_width // 8
    values = column.buffers()[1]
    start = column.offset * width
    return bytes(memoryview(values)[start : start + len(column) * width]) if len(column) else b""


def _ends_and_data(column: pa.Array) -> tuple[bytes, bytes]:
    _, ends, data = column.buffers()
    start = column.offset * 4
    return bytes(memoryview(ends)[start : start + (len(column) + 1) * 4]), bytes(data or b"")
