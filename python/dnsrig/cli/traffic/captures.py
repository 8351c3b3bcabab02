"""What the commands that make streams share: arguments, checks of files that are written, and what they print."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import FiniteRange, print_json
from dnsrig.cli.format import count
from dnsrig.cli.streams import check_output_is_open, report_on, say
from dnsrig.cli.traffic.reading import CAPTURE_FILE, warn_of_files

FILES = click.argument("files", type=CAPTURE_FILE, nargs=-1, required=True, metavar="FILE...")
OUTPUT = click.option(
    "-f",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="The file to write.  [default: standard output]",
)


class Share(FiniteRange):
    """A share: 10% or 0.1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?%", value):
            # By text, so that 10% is the same share as 0.1.
            return super().convert(repr(float(f"{value[:-1]}e-2")), param, ctx)
        return super().convert(value, param, ctx)


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
    warn_of_files(result.get("read", {}).get("files", ()))
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
    """Say what was left out."""
    sentences = []
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
