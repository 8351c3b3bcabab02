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
    for file in files:
        # Where its columns are stands at its end.
        if not file.is_file():
            name = "standard input" if str(file) == "-" else file
            raise InputError(f"{name} is no regular file, which Parquet needs: write it to a file first")
    writer = _core.TransactionWriter(output, form)
    for file in files:
        first_row = 0
        for batch in _batches(file):
            columns = {name: _plain(batch, name, file, first_row) for name in _READ}
            numbers = [_fixed(columns[name]) for name in ("time", "id", "client_port", "server_port")]
            texts = [
                part for name in ("client", "server", "transport", "query") for part in _ends_and_data(columns[name])
            ]
            writer.write(file, first_row, *numbers, *texts)
            first_row += len(batch)
    written: dict[str, Any] = json.loads(writer.finish())
    if written["messages_written"] == 0:
        left_out = written["messages_left_out"]
        reasons = ", ".join(f"{number} {reason.replace('_', ' ')}" for reason, number in left_out.items() if number)
        raise InputError(
            f"{', '.join(map(str, files))}: no query to be written: {reasons or 'no row'}; give a file with queries"
        )
    return written


def _batches(file: Path) -> Iterator[pa.RecordBatch]:
    try:
        parquet = pq.ParquetFile(file)
        names = parquet.schema_arrow.names
        missing = set(_READ) - set(names)
        if missing:
            raise InputError(
                f"{file} has no column {', '.join(sorted(missing))}: it is not of `dnsrig traffic convert`"
            )
        if twice := [name for name in _READ if names.count(name) > 1]:
            raise InputError(f"{file} has the column {twice[0]} {names.count(twice[0])} times: leave one of them")
        yield from parquet.iter_batches(BATCH_ROWS, columns=list(_READ))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: cannot be read as Parquet: {error}") from error


def _plain(batch: pa.RecordBatch, name: str, file: Path, first_row: int) -> pa.Array:
    """Give a column in the type that the core takes; the batch begins at `first_row` of `file`."""
    column = batch.column(name)
    try:
        if name == "time":
            column = _with_ns(column, file)
        column = column.cast(_READ[name])
    except pa.ArrowException as error:
        rows = f"{first_row} to {first_row + len(batch) - 1} (counted from 0)"
        raise InputError(
            f"{file}: column {name} is not what `dnsrig traffic convert` writes, in rows {rows}: {error}"
        ) from error
    if column.null_count:
        row = first_row + column.is_null().index(True).as_py()
        raise InputError(f"{file}: column {name} has no value in row {row} (counted from 0)")
    return column


def _with_ns(times: pa.Array, file: Path) -> pa.Array:
    """Give times in ns since 1970: timestamps of any unit; whole numbers are such already."""
    kind = times.type
    if pa.types.is_timestamp(kind):
        return times.cast(pa.timestamp("ns", tz=kind.tz))
    if pa.types.is_integer(kind):
        return times
    raise InputError(f"{file}: column time is of type {kind}: it must be timestamps, or whole numbers of ns since 1970")


def _fixed(column: pa.Array) -> bytes:
    width = column.type.bit_width // 8
    values = column.buffers()[1]
    start = column.offset * width
    return bytes(memoryview(values)[start : start + len(column) * width]) if len(column) else b""


def _ends_and_data(column: pa.Array) -> tuple[bytes, bytes]:
    _, ends, data = column.buffers()
    start = column.offset * 4
    return bytes(memoryview(ends)[start : start + (len(column) + 1) * 4]), bytes(data or b"")
