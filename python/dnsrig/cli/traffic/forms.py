"""What files of messages are, by their names, and what stands for that which they do not tell."""

from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import RATE, Address, Command, WholeNumber

FORMS = ("capture", "text", "binary", "parquet")
_SUFFIXES = {".txt": "text", ".text": "text", ".bin": "binary", ".parquet": "parquet"}


def form_of(file: Path) -> str:
    """Give the form that a file's name says: all that is not .txt, .text, .bin or .parquet is a capture."""
    return _SUFFIXES.get(file.suffix, "capture")


def refuse_parquet(file: Path, command: str) -> None:
    """Refuse a Parquet file where only `convert` reads and writes those."""
    if form_of(file) == "parquet":
        raise click.UsageError(
            f"{file}: `traffic {command}` takes no Parquet; `traffic convert` makes a capture of it."
        )


def stand_in_options(command: Command) -> Command:
    """Add what stands for that which query files and binary messages do not tell."""
    for option in (
        click.option(
            "--skip-bad", is_flag=True, help="Leave out bad lines of query files instead of stopping at them."
        ),
        click.option(
            "--rate", type=RATE, default=1000.0, show_default=True, help="Queries a second where queries have no times."
        ),
        click.option(
            "--server-port",
            type=WholeNumber(1, 65_535),
            default=53,
            show_default=True,
            help="The server's port where queries have none.",
        ),
        click.option(
            "--server",
            type=Address(),
            default=None,
            metavar="ADDRESS",
            help="The server where queries have none.  [default: 192.0.2.53, or 2001:db8::53]",
        ),
    ):
        command = option(command)
    return command


def stand_ins(server: str | None, port: int, rate_qps: float, skip_bad: bool) -> dict[str, Any]:
    """Give what stands for that which files do not tell, as the core takes it."""
    return {"server": server, "port": port, "rate_qps": rate_qps, "skip_bad": skip_bad}
