"""What the commands that make streams share: arguments, checks of files that are written, and what they print."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import FiniteRange, path_text, print_json
from dnsrig.cli.format import count
from dnsrig.cli.streams import check_output_is_open, report_on, say
from dnsrig.cli.traffic.reading import CAPTURE_FILE, read_input_once, warn_of_files

FILES = click.argument("files", type=CAPTURE_FILE, nargs=-1, required=True, metavar="FILE...")
OUTPUT = click.option(
    "-f",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="The file to write.  [default: standard output]",
)


COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".xz": "xz"}
"""Programs that compress, by the ends of their files' names."""


class Share(FiniteRange):
    """A share: 10% or 0.1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?%", value):
            # By text, so that 10% is the same share as 0.1.
            return super().convert(repr(float(f"{value[:-1]}e-2")), param, ctx)
        if isinstance(value, str) and value.endswith("%"):
            self.fail(f"'{value}' is no share: give 10% or 0.1.", param, ctx)
        return super().convert(value, param, ctx)


def claim_outputs(
    outputs: Sequence[Path],
    inputs: Sequence[Path],
    *,
    as_json: bool = False,
    what: str = "traffic",
    named: str = "file by -f",
    is_text: bool = False,
) -> None:
    """See to it that files can be written to `outputs`, and that none of them is one of `inputs`.

    `what` is written there, and `named` is how users name it. Text may go to a terminal.

    Raises:
        click.UsageError: standard output is to have both a capture and JSON, or is a terminal; a folder is missing; a
            file is read, too; standard input is to be read twice.
        EnvironmentLacksError: standard output is closed.

    """
    read_input_once(inputs)
    for output in outputs:
        _refuse_other_form(output, what)
        if str(output) == "-":
            if not is_text and sys.stdout.isatty():
                raise click.UsageError(f"{what} is not for a terminal: name a {named}, or lead it to a program by |.")
            if as_json:
                raise click.UsageError(f"standard output takes either {what} or the JSON object: name a {named}.")
            check_output_is_open()
            continue
        if output.is_dir():
            raise click.UsageError(f"'{output}' is a folder: name another {named}.")
        folder = output.parent
        if not folder.is_dir():
            wrong = f"{folder} is not a folder:" if folder.exists() else f"the folder {folder} is missing: make it, or"
            raise click.UsageError(f"{output}: {wrong} name another {named}.")
        for file in inputs:
            if output.exists() and str(file) != "-" and file.samefile(output):
                raise click.UsageError(f"{output} is read, too, and would be overwritten: name another {named}.")


def _refuse_other_form(output: Path, what: str) -> None:
    """Refuse a name that promises what is not written."""
    if output.suffix in COMPRESSED:
        raise click.UsageError(
            f"{output}: {what} is not compressed where it is written: give {output.stem}, and compress that by "
            f"{COMPRESSED[output.suffix]}."
        )
    if output.suffix == ".pcapng":
        raise click.UsageError(f"{output}: pcap is written, not pcapng: name it .pcap.")


@contextmanager
def file_beside(output: Path) -> Iterator[Path]:
    """Give a file beside `output` that gets its name if all goes well; what is no regular file is written itself.

    Raises:
        DnsrigError: a file cannot be written, as `unwritable` tells it.

    """
    # It takes random numbers and compression along, which most commands do without.
    import tempfile  # noqa: PLC0415

    try:
        if output.exists() and not output.is_file():
            yield output
            return
        # A symbolic link stays one.
        target = output.resolve()
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".dnsrig-", delete=False) as file:
            partial = Path(file.name)
        try:
            yield partial
            # A temporary file is its owner's alone; others are as the umask allows, or as they were.
            partial.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        # It takes random numbers along, too.
        from dnsrig.runs.writing import unwritable  # noqa: PLC0415

        raise unwritable(output, error, "name another file") from error


def _umask() -> int:
    """Give the process's mask, which Linux tells without changing it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


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
            print_json({"files": list(map(path_text, files)), "output": path_text(output), **result})
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
        ("not_written_time", "left out, as pcap files hold times from 1970 to 2106 only: {} packets"),
        ("bad_lines", "left out {} bad lines"),
    ):
        if result.get(name):
            sentences.append(words.format(count(result[name])))
    return sentences
