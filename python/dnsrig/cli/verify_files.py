"""The files that `dnsrig verify` writes: looked at before anything is verified, written when all is."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from dnsrig.errors import EnvironmentLacksError
from dnsrig.runs.writing import DiskFullError, is_stream, kind_of_unwritable, write_text

STANDARD_OUTPUT = 1


def check_outputs(outputs: Mapping[str, Path | None]) -> None:
    """Refuse files that cannot be written, by the options that name them.

    Raises:
        InputError: it is no name that there can be.
        click.UsageError: two are the same, one is no file's name, is what standard output goes to, or in no folder.
        EnvironmentLacksError: its folder cannot be written to, or looked into.

    """
    places: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        if str(path) in {".", "-"}:
            raise click.UsageError(f"{option} needs a file's name; /dev/stdout is standard output")
        place = os.path.realpath(path)
        if place in places:
            raise click.UsageError(f"{places[place]} and {option} each need a file of their own, not {path}")
        places[place] = option
        try:
            _check(option, path, Path(place))
        except OSError as error:
            raise kind_of_unwritable(error)(f"{option} {path}: {error.strerror}; name another file") from error


def _check(option: str, path: Path, place: Path) -> None:
    if _is_of_standard_output(path):
        raise click.UsageError(f"{option} {path} would overwrite what standard output goes to; name another file")
    if is_stream(path):
        return
    folder = place.parent
    if not folder.is_dir():
        what = "is no folder: " if folder.exists() else "is missing: make it, or "
        raise click.UsageError(f"{option} {path}: {folder} {what}name a file elsewhere")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EnvironmentLacksError(f"{option} {path}: no file can be made in {folder}; name one elsewhere")


def _is_of_standard_output(path: Path) -> bool:
    """Whether it is the plain file that standard output goes to."""
    try:
        here, there = os.fstat(STANDARD_OUTPUT), path.stat()
    except OSError:
        return False
    return stat.S_ISREG(there.st_mode) and os.path.samestat(here, there)


def write_outputs(texts: Mapping[Path, Callable[[], str]]) -> str:
    """Write all files that can be written; say of the others why not, "" if there is none.

    Raises:
        BrokenPipeError: one is a pipe that nobody reads any more.

    """
    reasons = []
    for path, text in texts.items():
        try:
            write_text(path, text())
        except BrokenPipeError:
            raise
        except DiskFullError:
            reasons.append(f"{path}: no room left on the disk; make some, or name a file elsewhere")
        except OSError as error:
            reasons.append(f"{path}: {error.strerror}; name another file")
    return "; ".join(reasons)
