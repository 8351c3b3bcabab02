"""What the commands share: options, JSON output, tables on a terminal."""

import json
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A range of numbers in ASCII, without infinity and not-a-number, which a plain FloatRange lets through."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, str) and not re.fullmatch(r"[-+.0-9a-zA-Z]+", value):
            self.fail(f"'{value}' is not a number.", param, ctx)
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class WholeNumber(click.IntRange):
    """A range of whole numbers in ASCII digits; int() takes those of any script, and underscores."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,20}", value):
            self.fail(f"'{value}' is not a whole number.", param, ctx)
        return int(super().convert(value, param, ctx))


class Utf8(click.types.StringParamType):
    """Text in UTF-8; other octets of the command line are lone surrogates in a string, which the core cannot take."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        text = str(super().convert(value, param, ctx))
        if not is_utf8(text):
            self.fail(f"{text!r} is not UTF-8.", param, ctx)
        return text


class Address(click.ParamType[str]):
    """An IP address."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        # Few commands have an address, and all import this module.
        import ipaddress  # noqa: PLC0415

        try:
            address = ipaddress.ip_address(str(value))
        except ValueError:
            address = None
        if address is None or "%" in str(value):
            self.fail(f"{str(value)!r} is not an IP address such as 192.0.2.53 or 2001:db8::53.", param, ctx)
        return str(address)


def is_utf8(text: str) -> bool:
    """Say whether all octets of an argument, or of a path, were UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def path_text(path: Path) -> str:
    """Give a path as JSON can hold it: octets that are not UTF-8 become U+FFFD, as in the core's results."""
    return os.fsencode(path).decode("utf-8", "replace")


UTF8 = Utf8()
SECONDS = FiniteRange(min=0.001, max=31_536_000)
RATE = FiniteRange(min=0.001, max=1e9)
KEY_BITS = WholeNumber(1, 65_535)
TTL_S = WholeNumber(0, 2**31 - 1)
OUTSTANDING = WholeNumber(1, 10_000_000)
CLIENTS = WholeNumber(1, 1_000_000)
COUNT = WholeNumber(1, 2**63 - 1)
EXISTING_FILE = click.Path(exists=True, dir_okay=False, readable=True)


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(command)


def key_directory_option(command: Command) -> Command:
    """Add `-K`, the folder in which keys that are named are looked for."""
    return click.option(
        "-K",
        "--key-directory",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=None,
        help="Folder of the keys [.].",
    )(command)


def seed_option(command: Command) -> Command:
    """Add `--seed`."""
    return click.option(
        "--seed",
        type=WholeNumber(0, 2**63 - 1),
        default=None,
        help="Seed of everything random; drawn and printed when not given.",
    )(command)


def chosen_seed(seed: int | None) -> int:
    """Give the user's seed, or draw one that is short enough to type again."""
    return int.from_bytes(os.urandom(8)) % 10**9 if seed is None else seed


def print_json(value: object) -> None:
    """Print `value` as one JSON object on standard output."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")
    # Written now: at exit a full disk would be noticed too late to be said.
    sys.stdout.flush()


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Print aligned rows under bold column names; the columns numbered in `right` align right."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]

    def aligned(cells: Sequence[str]) -> str:
        pairs = enumerate(zip(cells, widths, strict=True))
        return "  ".join(cell.rjust(width) if index in right else cell.ljust(width) for index, (cell, width) in pairs)

    click.echo(click.style(aligned(columns).rstrip(), bold=True))
    for row in rows:
        click.echo(aligned(row).rstrip())


Given = str | tuple[str, ...] | None
"""What click has of an option: a text, or those of one that may be repeated."""


def _joined(given: Given) -> str | None:
    """Give the values of an option as one list with commas; None where there is none."""
    if given is None or given == ():
        return None
    return given if isinstance(given, str) else ",".join(given)


def comma_list(_context: click.Context, _parameter: click.Parameter, given: Given) -> tuple[str, ...] | None:
    """Split an option's value at commas, as a click callback; one that may be repeated has all of its values."""
    value = _joined(given)
    if value is None:
        return None
    parts = tuple(item.strip() for item in value.split(",")) if value else ()
    if not all(parts):
        raise click.BadParameter(f"'{value}' has nothing before or after a comma; give values as in 1,2,3")
    return parts


def whole_numbers(least: int, most: int, example: str) -> Callable[..., tuple[int, ...] | None]:
    """Give a click callback that splits an option's value at commas into whole numbers from `least` to `most`."""

    def split(context: click.Context, parameter: click.Parameter, given: Given) -> tuple[int, ...] | None:
        parts = comma_list(context, parameter, given)
        if parts is None:
            return None
        is_whole = all(re.fullmatch(r"-?[0-9]{1,20}", part) for part in parts)
        numbers = tuple(int(part) for part in parts) if is_whole else (least - 1,)
        if not numbers or not all(least <= number <= most for number in numbers):
            raise click.BadParameter(
                f"'{_joined(given)}' is not a list of whole numbers from {least} to {most}, such as {example}"
            )
        return numbers

    return split
