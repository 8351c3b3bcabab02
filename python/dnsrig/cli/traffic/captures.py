"""How the commands that make streams read captures and write files: shared options, progress, checks."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import Command, FiniteRange, WholeNumber, json_option, print_json
from dnsrig.cli.format import count
from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.streams import check_output_is_open, report_on, say

INPUT_FILE = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=Path)
OUTPUT_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)
FILES = click.argument("files", type=INPUT_FILE, nargs=-1, required=True, metavar="FILES...")
OUTPUT = click.option(
    "-f", "--output", type=OUTPUT_FILE, default="-", help="The file to write.  [default: standard output]"
)
PORT = WholeNumber(1, 65_535)


class Share(FiniteRange):
    """A share: 10% or 0.1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?%", value):
            # By text, so that 10% is the same share as 0.1.
            return super().convert(repr(float(f"{value[:-1]}e-2")), param, ctx)
        return super().convert(value, param, ctx)


def reading_options(command: Command) -> Command:
    """Add `--port`, `--threads` and `--json`."""
    for option in (
        json_option,
        click.option(
            "--threads", type=WholeNumber(1, 1024), default=None, help="Threads that work.  [default: one a CPU]"
        ),
        click.option(
            "--port", "ports", type=PORT, multiple=True, default=(53,), show_default=True, help="A port of DNS servers."
        ),
    ):
        command = option(command)
    return command


def reading(files: Sequence[Path], ports: Sequence[int], threads: int | None) -> str:
    """Give what is read as the core takes it."""
    return json.dumps({"files": list(map(str, files)), "ports": list(ports), "threads": threads})


class ReadProgress(WorkProgress):
    """Shows how much of the files was read."""

    def __init__(self, what: str, files: Sequence[Path]) -> None:
        self._what = what
        self._total = sum(file.stat().st_size for file in files if file.is_file()) or None
        super().__init__(what, self._total, "octets")

    def update(self, octets: int) -> None:
        """Show that `octets` octets were read."""
        of_all = f" of {self._total / 1e6:,.0f}" if self._total else ""
        self.show(octets, f"{self._what}: {octets / 1e6:,.0f}{of_all} MB read")


def work(what: str, files: Sequence[Path], call: Callable[[Callable[[int], None]], str]) -> dict[str, Any]:
    """Let `call` do the work on `files` with progress, and give its result."""
    with ReadProgress(what, files) as progress:
        text = call(progress.update)
    result: dict[str, Any] = json.loads(text)
    return result


def claim_outputs(outputs: Sequence[Path], inputs: Sequence[Path], *, as_json: bool = False) -> None:
    """See to it that files can be written to `outputs`, and that none of them is one of `inputs`.

    Raises:
        click.UsageError: standard output is to have both a capture and JSON; a folder is missing; a file is read, too.
        EnvironmentLacksError: standard output is closed.

    """
    for output in outputs:
        if str(output) == "-":
            if as_json:
                raise click.UsageError("standard output takes either traffic or the JSON object: name a file by -f.")
            check_output_is_open()
            continue
        if not output.parent.is_dir():
            raise click.UsageError(f"{output}: the folder {output.parent} is missing: make it, or name another by -f.")
        for file in inputs:
            if output.exists() and str(file) != "-" and file.samefile(output):
                raise click.UsageError(f"{output} is read, too, and would be overwritten: name another file by -f.")


def require_files(files: Sequence[Path], why: str) -> None:
    """Refuse what can be read only once."""
    for file in files:
        if not file.is_file():
            raise click.UsageError(f"{file} can be read only once, and {why}: write it to a file first.")


def print_result(
    output: Path, files: Sequence[Path], result: Mapping[str, Any], lines: Sequence[str], *, as_json: bool
) -> None:
    """Print what was made: as JSON, or `lines` on standard output, or on standard error if the traffic goes there."""
    is_output = str(output) == "-"
    with report_on("standard output is complete" if is_output else f"{output} is complete"):
        if as_json:
            print_json({"files": list(map(str, files)), "output": str(output), **result})
            return
        for line in (*lines, *remarks(result)):
            if is_output:
                say(line)
            else:
                click.echo(line)


def remarks(result: Mapping[str, Any]) -> list[str]:
    """Say what was left out, and which files are cut off."""
    sentences = [
        f"{file['file']} ends inside packet {count(file['packets'] + 1)}; what is before it was read"
        for file in result.get("read", {}).get("files", ())
        if file["is_cut_off"]
    ]
    for name, words in (
        ("packets_left_out", "left out, as they hold nothing of DNS: {} packets"),
        ("messages_left_out", "left out, as the form has no room for them: {} messages"),
    ):
        reasons = {reason: number for reason, number in result.get(name, {}).items() if number}
        if reasons:
            shown = ", ".join(f"{count(number)} {reason.replace('_', ' ')}" for reason, number in reasons.items())
            sentences.append(f"{words.format(count(sum(reasons.values())))} ({shown})")
    for name, words in (
        ("malformed", "{} messages are not whole"),
        ("not_written", "{} packets could not be written with the link type of the others"),
        ("bad_lines", "left out {} bad lines"),
    ):
        if result.get(name):
            sentences.append(words.format(count(result[name])))
    return sentences
