"""How the zone commands read files: their shared options, progress, and warnings."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import Command, WholeNumber
from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.streams import check_output_is_open

ZONE_FILE = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
MOST = WholeNumber(0, 10_000_000)
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True)
class Reading:
    """How `_core` is to read zone files; `memory` is in octets, for sorting."""

    origin: str | None
    memory: int | None
    threads: int | None
    on_progress: Callable[[int], None] | None = None


KEY_FILE_NAME = re.compile(r"K.+\+[0-9]{3}\+[0-9]{5}\.(key|private)")


class Size(click.ParamType[int]):
    """A number of octets such as 500M or 2G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]{1,9})([KMGT]?)", str(value).upper().removesuffix("B"))
        size = int(found[1]) * _SIZE_UNITS[found[2]] if found else 0
        if size < 1 << 20:
            self.fail(f"'{value}' is no size of at least 1M; write one such as 500M or 2G.", param, ctx)
        return size


def reading_options(command: Command) -> Command:
    """Add `--origin`, `--memory` and `--threads`."""
    for option in (
        click.option("--threads", type=WholeNumber(1, 1024), help="Threads that work.  [default: one a CPU]"),
        click.option(
            "--memory",
            type=Size(),
            help="Memory for sorting a file that is not in canonical order, and for NSEC3 records; beyond it, "
            "temporary files are used (in TMPDIR).  [default: a quarter of the available memory, at most 4G]",
        ),
        click.option(
            "-o", "--origin", default=None, help="Name of the zone's apex.  [default: the SOA record's owner]"
        ),
    ):
        command = option(command)
    return command


class ZoneProgress(WorkProgress):
    """Shows how far the files were read.

    Some work reads its files several times; the bar then begins again.
    """

    def __init__(self, what: str, files: Sequence[Path]) -> None:
        self._what = what
        self._total = sum(file.stat().st_size for file in files if file.is_file()) or None
        super().__init__(what, self._total, "octets")

    def update(self, octets: int) -> None:
        """Show that `octets` octets were read."""
        of_all = f" of {self._total / 1e6:,.0f}" if self._total else ""
        self.show(octets, f"{self._what}: {octets / 1e6:,.0f}{of_all} MB read")


def work(
    what: str,
    files: Sequence[Path],
    reading: Reading,
    call: Callable[[Reading], str],
) -> dict[str, Any]:
    """Let `call` do the work on `files` with progress, and give its result."""
    with ZoneProgress(what, files) as progress:
        text = call(Reading(reading.origin, reading.memory, reading.threads, progress.update))
    result: dict[str, Any] = json.loads(text)
    return result


def warn(result: Mapping[str, Any]) -> None:
    """Print the warnings of `result` to standard error, the first of them and how many there are."""
    for warning in result["warnings"]:
        click.echo(f"warning: {warning}", err=True)
    more = result["warning_count"] - len(result["warnings"])
    if more > 0:
        click.echo(f"warning: {more:,} more of the kind", err=True)


def require_origin_of_stream(file: Path, origin: str | None, why: str) -> None:
    """Refuse to look for the zone's name in what can be read only once, such as standard input or a FIFO."""
    if origin is None and not file.is_file():
        raise click.UsageError(f"the zone's name is needed to find its {why}: add -o NAME")


def claim_output(output: Path, as_json: bool, name: str = "-f") -> None:
    """See to it that a zone can be written to `output`, which the option or argument `name` gives.

    Raises:
        click.UsageError: standard output is to have both the zone and JSON; the file is a key's; its folder is missing.
        EnvironmentLacksError: it is closed.

    """
    if KEY_FILE_NAME.fullmatch(output.name) and output.exists():
        raise click.UsageError(f"{output} is a key file, which would be lost: name another file by {name}.")
    if str(output) != "-":
        require_folder(output, name)
        return
    if as_json:
        raise click.UsageError(f"standard output takes either the zone or the JSON object: name a file by {name}.")
    check_output_is_open()


def require_folder(file: Path, name: str) -> None:
    """Refuse a file to be written, which the option or argument `name` gives, in a folder that is not there."""
    folder = file.parent
    if not folder.is_dir():
        what = f"{folder} is not a folder: " if folder.exists() else f"the folder {folder} is missing: make it, or "
        raise click.UsageError(f"{file}: {what}name another file by {name}.")


def file_name(path: Path) -> str:
    """Name a file, standard input or output."""
    return "standard output" if str(path) == "-" else str(path)
