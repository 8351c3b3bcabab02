"""A run's tables: every measurement in one row, and all samples in one table, as Parquet."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnsrig.runs.writing import write_whole

_NOT_IN_TABLE = {"intervals", "latency_histogram", "schema", "items"}


def write_tables(
    folder: Path,
    measurements: Sequence[Mapping[str, Any]],
    series_of: Callable[[str, int], pa.Table | None],
) -> None:
    """Write `measurements`, `intervals`, `items` of verifications and `series` as Parquet, in `tables/` in `folder`.

    Nested values become columns with dotted names (`load.latency_ns.p50`); lists of text are joined by "; ".
    Tables without rows are not written.
    """
    tables = {
        "measurements": _table([flatten(item) for item in measurements]),
        "intervals": _table(
            [{**_key(item), **row} for item in measurements for row in item.get("load", {}).get("intervals", ())]
        ),
        "items": _table(
            [
                {**_key(item), **flatten(row)}
                for item in measurements
                for row in item.get("verification", {}).get("items", ())
            ]
        ),
        "series": _series_table(measurements, series_of),
    }
    (folder / "tables").mkdir(exist_ok=True)
    for name, table in tables.items():
        if table is not None:
            _write(folder / "tables" / f"{name}.parquet", table)


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, with dotted keys, without histograms and series."""
    flat: dict[str, Any] = {}
    for key, item in value.items():
        if key in _NOT_IN_TABLE:
            continue
        if isinstance(item, Mapping):
            flat.update(flatten(item, f"{prefix}{key}."))
        elif isinstance(item, list):
            flat[f"{prefix}{key}"] = "; ".join(str(entry) for entry in item)
        else:
            flat[f"{prefix}{key}"] = item
    return flat


def _write(path: Path, table: pa.Table) -> None:
    write_whole(path, lambda partial: pq.write_table(table, partial))


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table | None:
    if not rows:
        return None
    # Parquet has no columns of mappings that are all empty, such as response codes where nothing was answered.
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value != {}))
    return pa.table({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pa.Array:
    present = {type(value) for value in values if value is not None}
    if present <= {int, float} and float in present:
        values = [None if value is None else float(value) for value in values]
    elif len(present) > 1:
        values = [None if value is None else str(value) for value in values]
    return pa.array(values)


def _series_table(
    measurements: Sequence[Mapping[str, Any]], series_of: Callable[[str, int], pa.Table | None]
) -> pa.Table | None:
    parts = []
    for item in measurements:
        table = series_of(str(item["case_id"]), int(item["repetition"]))
        if table is not None:
            for name, value in reversed(_key(item).items()):
                table = table.add_column(0, name, pa.array([value] * table.num_rows))
            parts.append(table)
    return pa.concat_tables(parts, promote_options="permissive") if parts else None


def _key(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"case_id": str(item["case_id"]), "repetition": int(item["repetition"])}
