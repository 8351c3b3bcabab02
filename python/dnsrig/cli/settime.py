"""`dnsrig settime`: show and change the times of keys."""

import re
import time
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import json_option, key_directory_option, print_json
from dnsrig.cli.file_lock import alone_with
from dnsrig.cli.key_times import SECTION, TimedCommand, given_times, noted, oddities, timing_options
from dnsrig.errors import InputError
from dnsrig.key_files import KeyFiles, changed, located, read_pair, write_times

EVENTS = {
    "C": ("Created", "Created"),
    "P": ("Publish", "Publish"),
    "A": ("Activate", "Activate"),
    "R": ("Revoke", "Revoke"),
    "I": ("Inactive", "Inactive"),
    "D": ("Delete", "Delete"),
    "Psync": ("SyncPublish", "SYNC Publish"),
    "Dsync": ("SyncDelete", "SYNC Delete"),
    "Pds": ("DSPublish", "DS Publish"),
}
"""The letters of -p: the event in key files, and as it is shown."""
# Those of which others are the beginning come first.
_LETTER = re.compile("|".join(sorted(EVENTS, key=len, reverse=True)))
_LETTERS = re.compile(f"(?:[ /]?(?:{_LETTER.pattern}))+")


def _shown(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    if value is None:
        return ()
    if value == "all":
        return tuple(EVENTS)
    if _LETTERS.fullmatch(value) is None:
        raise click.BadParameter(f"'{value}' is not 'all' or some of {' '.join(EVENTS)}.")
    return tuple(_LETTER.findall(value))


@click.command(cls=TimedCommand)
@click.argument("keys", metavar="KEY...", nargs=-1, required=True, type=click.Path(path_type=Path))
@timing_options("")
@SECTION(
    "--ds-publish",
    metavar="DATE",
    callback=noted("DSPublish"),
    expose_value=False,
    help="The parent zone has its DS record; also -P ds DATE.",
)
@key_directory_option
@click.option(
    "-p",
    "--print",
    "shown",
    metavar="WHICH",
    default=None,
    callback=_shown,
    help=f"Show times: all, or some of {' '.join(EVENTS)}, as in PA [all, if nothing is changed].",
)
@click.option("-u", "--unix", is_flag=True, help="Show times in seconds since 1970.")
@json_option
@click.pass_context
def settime(
    context: click.Context,
    /,
    keys: tuple[Path, ...],
    key_directory: Path | None,
    shown: tuple[str, ...],
    unix: bool,
    as_json: bool,
    **_times: Any,  # noqa: ANN401 (kept in the context by their callbacks)
) -> None:
    """Change when keys are published, sign, and go, as dnssec-settime does; show it with -p or without any time.

    KEY is the name that keygen prints, or that of either of its files. Both files are changed, and their names printed.
    The next `dnsrig sign` without KEYS goes by the new times.

    \b
    Examples:
      dnsrig settime -K keys Kexample.test.+013+12345
      dnsrig settime -K keys -I now+2d -D now+9d Kexample.test.+013+12345
      dnsrig settime -D none -p D Kexample.test.+013+12345
    """
    changes = given_times(context)
    stems = [located(key, key_directory) for key in keys]
    if not changes:
        _report([(files, files.timing) for files in map(read_pair, stems)], shown or tuple(EVENTS), unix, as_json)
        return
    privates = {stem: stem.with_name(f"{stem.name}.private") for stem in stems}
    written: list[tuple[KeyFiles, dict[str, int]]] = []
    # Another settime may change other times of the same keys.
    with alone_with(privates.values(), "another settime"):
        found = [read_pair(stem) for stem in privates]
        now_s = int(time.time())
        timings = [changed(files.timing, changes, now_s) for files in found]
        for files, timing in zip(found, timings, strict=True):
            _check(files, timing)
        try:
            for files, timing in zip(found, timings, strict=True):
                write_times(files, timing)
                written.append((files, timing))
        finally:
            # Those too that come before one that cannot be changed.
            _report(written, shown, unix, as_json, names_files=True)


def _report(
    keys: list[tuple[KeyFiles, dict[str, int]]],
    letters: tuple[str, ...],
    unix: bool,
    as_json: bool,
    *,
    names_files: bool = False,
) -> None:
    """Print the keys' times; with `names_files` their files, and the times of `letters` if there are any."""
    if as_json:
        print_json({"keys": [_facts(*pair) for pair in keys]})
        return
    for files, timing in keys:
        if names_files:
            click.echo(f"{files.public}\n{files.private}")
        if letters:
            _show(timing, letters, unix, files.name if len(keys) > 1 else None)


def _check(files: KeyFiles, timing: dict[str, int]) -> None:
    """Warn of times that make a key useless; refuse those that take a key out of use unsaid."""
    if not files.timing and not {"Publish", "Activate"} <= timing.keys():
        raise InputError(
            f"{files.private}: it has no times, so it is published and signs; with any time it goes by its times, so "
            "give -P and -A too"
        )
    for oddity in oddities(timing, is_ksk=files.is_ksk):
        click.echo(f"warning: {files.name}: {oddity}", err=True)
    state = files.public.with_suffix(".state")
    if state.exists():
        click.echo(f"warning: {state} stays as it is, and BIND's dnssec-policy goes by it", err=True)


def _facts(files: KeyFiles, timing: dict[str, int]) -> dict[str, Any]:
    return {
        "file_name": files.name,
        "files": [str(files.public), str(files.private)],
        "role": "ksk" if files.is_ksk else "zsk",
        "timing": timing,
    }


def _show(timing: dict[str, int], letters: tuple[str, ...], unix: bool, name: str | None) -> None:
    if name is not None:
        click.echo(f"{name}:")
    for letter in letters:
        event, words = EVENTS[letter]
        at = timing.get(event)
        text = "UNSET" if at is None else str(at) if unix else time.asctime(time.gmtime(at))
        click.echo(f"{words}: {text}")
