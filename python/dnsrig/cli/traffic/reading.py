"""How the traffic commands read captures: their shared arguments and options, and progress."""

import errno
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import Command, WholeNumber, whole_numbers
from dnsrig.cli.format import duration
from dnsrig.cli.progress import WorkProgress

JITTER_NS = 1_000_000
"""Packets of several queues of a network card change places by less, which alters no figure."""
OFTEN_BACK = 0.1
"""A greater share of packets is more than that, however small the steps: a file in reverse order has many."""


class InputFile(click.Path):
    """A file that can be read; what cannot be looked at is not said to be missing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        try:
            Path(value).stat()
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                self.fail(f"'{os.fspath(value)}' cannot be looked at: {error.strerror}.", param, ctx)
        return super().convert(value, param, ctx)


CAPTURE_FILE = InputFile(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)


@dataclass(frozen=True, slots=True)
class CaptureReading:
    """How `_core` is to read captures."""

    ports: tuple[int, ...]
    threads: int | None

    def to_json(self) -> str:
        """Write it for `_core`."""
        return json.dumps({"ports": self.ports, "threads": self.threads})


def reading_options(command: Command) -> Command:
    """Add `--port` and `--threads`."""
    for option in (
        click.option("--threads", type=WholeNumber(1, 1024), help="Threads that work.  [default: one a CPU]"),
        click.option(
            "--port",
            "ports",
            multiple=True,
            default=("53",),
            show_default=True,
            callback=whole_numbers(1, 65_535, "53,5300"),
            help="Ports of DNS servers, separated by commas. Repeatable.",
        ),
    ):
        command = option(command)
    return command


def read_input_once(files: Sequence[Path]) -> None:
    """Refuse standard input that is named twice: each reader would get a part of it."""
    if sum(str(file) == "-" for file in files) > 1:
        raise click.UsageError("- is standard input, which can be read only once: give it once, and files beside it.")


class CaptureProgress(WorkProgress):
    """Shows how far captures were read."""

    def __init__(self, what: str, files: Sequence[Path]) -> None:
        self._what = what
        self._total = sum(file.stat().st_size for file in files if file.is_file()) or None
        super().__init__(what, self._total, "octets")

    def update(self, octets: int) -> None:
        """Show that `octets` octets were read."""
        of_all = f" of {self._total / 1e6:,.0f}" if self._total else ""
        self.show(octets, f"{self._what}: {octets / 1e6:,.0f}{of_all} MB read")


def work(what: str, files: Sequence[Path], call: Callable[[Callable[[int], None]], str]) -> dict[str, Any]:
    """Let `call` do the work on `files`, which it tells the progress of, and give its result."""
    with CaptureProgress(what, files) as progress:
        text = call(progress.update)
    result: dict[str, Any] = json.loads(text)
    return result


def warn_of_files(files: Sequence[Mapping[str, Any]]) -> None:
    """Say on standard error which files were not whole, and which were given twice."""
    for text in (*given_twice(files), *of_files(files)):
        warn(text)


def warn(text: str) -> None:
    """Say on standard error what a user should know of figures."""
    click.echo(f"warning: {text}", err=True)


def given_twice(files: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which files were given several times."""
    named = Counter(file["file"] for file in files)
    for name, times in named.items():
        if times > 1:
            yield f"{name} is given {times} times: what is in it by UDP is taken as often, TCP counts as sent again"


def of_files(files: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which files were not whole, or out of order."""
    for file in files:
        name = "standard input" if file["file"] == "-" else file["file"]
        after = f"after packet {file['packets']:,}"
        if file["is_cut_off"]:
            yield f"{name} is cut off {after}: what is before was read"
        if file["damage"] is not None:
            yield f"{name} is damaged {after}: {file['damage']}; what is before was read"
        if file["cut_packets"]:
            yield (
                f"{name} holds the beginnings only of {file['cut_packets']:,} of {file['packets']:,} packets, "
                f"{file['cut_at']:,} octets at most (snapshot length): sizes and EDNS are those of whole messages, and "
                "of TCP most is lost"
            )
        if file["without_time"]:
            yield f"{name}: {file['without_time']:,} packets without a time got that of the packet before"
        is_often = file["back_in_time"] > OFTEN_BACK * file["packets"]
        if file["furthest_back_ns"] > JITTER_NS or is_often:
            yield (
                f"{name}: times run backwards at {file['back_in_time']:,} packets, by up to "
                f"{duration(file['furthest_back_ns'])}: it is read in the order of its packets"
            )
