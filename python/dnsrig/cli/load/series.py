"""The files that get each second's figures while a load goes on."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from dnsrig.cli.load.queries import Options
from dnsrig.cli.streams import say
from dnsrig.errors import DnsrigError
from dnsrig.loads import LoadSettings
from dnsrig.report.load_series import FORMS, LoadContext, SeriesWriter, open_series


class SeriesFiles:
    """The files of a load's intervals. One that cannot be written is given up, and said when the load has ended."""

    def __init__(self, options: Options, settings: LoadSettings) -> None:
        """Open them.

        Raises:
            click.UsageError: the options contradict each other.
            DnsrigError: a file cannot be written.

        """
        self._errors: list[DnsrigError] = []
        with contextlib.ExitStack() as opened:
            self._writers: list[SeriesWriter] = [
                opened.enter_context(open_series(path, form, LoadContext(("dnsrig", *sys.argv[1:]), settings)))
                for path, form in _asked(options)
            ]
            self._opened = opened.pop_all()

    def __bool__(self) -> bool:
        return bool(self._writers)

    def add(self, interval: dict[str, Any]) -> None:
        """Give every file an interval that has just ended."""
        for writer in tuple(self._writers):
            with self._given_up_on_error(writer):
                writer.add(interval)

    def finish(self, report: dict[str, Any]) -> None:
        """Put every file in place that could be written."""
        for writer in tuple(self._writers):
            with self._given_up_on_error(writer):
                writer.finish(report)

    def raise_errors(self) -> None:
        """Raise what was wrong with files; nothing if they are all in place."""
        _say(self._errors[:-1])
        if self._errors:
            raise self._errors[-1]

    @contextlib.contextmanager
    def _given_up_on_error(self, writer: SeriesWriter) -> Iterator[None]:
        try:
            yield
        except DnsrigError as error:
            self._errors.append(error)
            self._writers.remove(writer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()
        if error is not None:
            _say(self._errors)


def _say(errors: Sequence[DnsrigError]) -> None:
    for error in errors:
        say(f"dnsrig: {error}")


def _asked(options: Options) -> Sequence[tuple[Path, str]]:
    asked = [(Path(options[form]), form) for form in FORMS if options[form]]
    if asked and options["searching"]:
        raise click.UsageError(f"--{asked[0][1]} goes with one load, not with the many of --search")
    return asked
