"""Which files a load reads and writes: no output may be an input, or another output."""

import os
import stat
from collections.abc import Hashable, Iterator
from pathlib import Path

import click

from dnsrig.cli.load.queries import Options
from dnsrig.report.load_series import FORMS
from dnsrig.report.load_series.output_file import partial_of
from dnsrig.runs.writing import is_stream

STANDARD_INPUT, STANDARD_OUTPUT = 0, 1


def check_files(options: Options) -> None:
    """Refuse output files that the load reads, or writes already; by device and inode, whatever they are called.

    Raises:
        click.UsageError: one is, or is no file's name.

    """
    inputs = list(_inputs(options))
    written: dict[Hashable, str] = {}
    for form in FORMS:
        name = options[form]
        if name is None:
            continue
        option = f"--{form}"
        if name in {"", "-"}:
            raise click.UsageError(f"{option} needs a file's name, not '{name}'; /dev/stdout is standard output")
        path = Path(name)
        identities = [_of_path(path)] if is_stream(path) else [_of_path(path), _of_path(partial_of(path))]
        for said, identity in [*inputs, *(() if is_stream(path) else _standard_output())]:
            if identity in identities:
                raise click.UsageError(f"{option} {name} would overwrite {said}; name another file")
        for identity in identities:
            if identity in written:
                raise click.UsageError(f"{option} and {written[identity]} each need a file of their own, not {name}")
        written.update((identity, option) for identity in identities if identity is not None)


def _inputs(options: Options) -> Iterator[tuple[str, Hashable]]:
    """Name what the load reads, with its identity."""
    for option, name in (("-d", options["data"]), ("--replay", options["replay"]), ("--ca", options["roots"])):
        if name and name != "-":
            yield from _known(f"the file of {option}", _of_path(Path(name)))
    reads_elsewhere = options["data"] or options["replay"] or options["patterns"]
    if not reads_elsewhere or "-" in {options["data"], options["replay"]}:
        yield from _known("the file that standard input is read from", _of_descriptor(STANDARD_INPUT))


def _standard_output() -> Iterator[tuple[str, Hashable]]:
    yield from _known("the file that standard output goes to", _of_descriptor(STANDARD_OUTPUT))


def _known(said: str, identity: Hashable) -> Iterator[tuple[str, Hashable]]:
    if identity is not None:
        yield said, identity


def _of_path(path: Path) -> Hashable:
    try:
        return _of_status(path.stat())
    except OSError:
        # Not there yet: another spelling of its name is all that it can have in common with others.
        return os.path.realpath(path)


def _of_descriptor(number: int) -> Hashable:
    try:
        return _of_status(os.fstat(number))
    except OSError:
        return None


def _of_status(status: os.stat_result) -> Hashable:
    """Give device and inode; None for devices, which can be read and written by many."""
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)
