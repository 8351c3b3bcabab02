"""Writing a load's intervals to a file, in one of the forms."""

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dnsrig.errors import InputError
from dnsrig.report.load_series import dns_metrics
from dnsrig.report.load_series.context import LoadClock, LoadContext
from dnsrig.report.load_series.output_file import OutputFile
from dnsrig.report.load_series.rows import as_csv, as_parquet

Interval = Mapping[str, Any]
Report = Mapping[str, Any]


class SeriesWriter(ABC):
    """A file of a load's intervals: `add` each as it ends, `finish` with the report.

    As a context manager it closes a file that was not finished. Both calls raise `DnsrigError` with the path when the
    file cannot be written; the name that was asked for is given to a whole file only.
    """

    keeps_unfinished = False
    """Whether an unfinished file, whose name ends in `.partial`, is worth keeping."""

    def __init__(self, path: Path, context: LoadContext, clock: LoadClock | None = None) -> None:
        """Open the file, so that one that cannot be written is known before the load begins."""
        self.context = context
        self.clock = clock or LoadClock()
        self.file = OutputFile(path)

    def add(self, interval: Interval) -> None:
        """Take an interval as `run_load` passes it on."""
        self.clock.saw_end_of(interval)

    def finish(self, report: Report) -> None:
        """Write what is left, intervals of the report that were not passed on among them, and put the file in place."""
        self.clock.saw_end_of(report["intervals"][-1] if report["intervals"] else {"start_s": 0.0, "length_s": 0.0})
        self.write_rest(report)
        self.file.finish()

    @abstractmethod
    def write_rest(self, report: Report) -> None:
        """Write what the file still lacks."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.leave(keep=self.keeps_unfinished)


class JsonLinesWriter(SeriesWriter):
    """JSON Lines in the dns-metrics form. An added interval can be read in the file, whose name ends in `.partial`."""

    keeps_unfinished = True

    def __init__(self, path: Path, context: LoadContext, clock: LoadClock | None = None) -> None:
        super().__init__(path, context, clock)
        self.run_id = str(uuid.uuid4())
        self._written: set[tuple[str, float]] = set()
        self._write([dns_metrics.header(self.run_id, context)])

    def add(self, interval: Interval) -> None:
        """Write the interval's lines."""
        super().add(interval)
        self._write(dns_metrics.periodic(self.run_id, interval, self.context, self.clock))
        self._written.add(_key(interval))

    def write_rest(self, report: Report) -> None:
        """Write the intervals that were not passed on, the events and the sums."""
        for interval in report["intervals"]:
            if _key(interval) not in self._written:
                self.add(interval)
        self._write(dns_metrics.closing(self.run_id, report, self.clock))

    def _write(self, objects: Iterable[dns_metrics.Object]) -> None:
        lines = (json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n" for item in objects)
        self.file.write("".join(lines).encode())


class CsvWriter(SeriesWriter):
    """CSV, written at the end of the load."""

    def write_rest(self, report: Report) -> None:
        """Write the table."""
        self.file.write(as_csv(report, self.clock))


class ParquetWriter(SeriesWriter):
    """Parquet, written at the end of the load."""

    def write_rest(self, report: Report) -> None:
        """Write the table."""
        self.file.write(as_parquet(report, self.context, self.clock))


_WRITERS: Mapping[str, type[SeriesWriter]] = {"jsonl": JsonLinesWriter, "csv": CsvWriter, "parquet": ParquetWriter}
FORMS = tuple(_WRITERS)
"""The forms that `open_series` knows."""


def open_series(path: Path, form: str, context: LoadContext) -> SeriesWriter:
    """Open a file of a load's intervals.

    Raises:
        InputError: `form` is none of FORMS, or there can be no file at `path`, or another process is writing it.
        EnvironmentLacksError: the room for it is missing, or the permission.

    """
    writer = _WRITERS.get(form)
    if writer is None:
        raise InputError(f"'{form}' is no form of intervals; there are {', '.join(FORMS)}")
    return writer(path, context)


def _key(interval: Interval) -> tuple[str, float]:
    return str(interval["phase"]), float(interval["start_s"])
