"""Options that the commands of `dnsrig internet` share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dnsrig.cli.common import WholeNumber

Command = TypeVar("Command", bound=Callable[..., Any])
DOMAINS_MAX = 1_000_000_000
MIB = 1 << 20


def profile_option(command: Command) -> Command:
    """Add `--profile`."""
    return click.option(
        "--profile",
        default="internet-2022",
        show_default=True,
        help="What the Internet is like: a name, or a file that ends in .toml.",
    )(command)


def memory_option(what: str) -> Callable[[Command], Command]:
    """Add `--memory`, which says how many MiB `what` may take."""
    return click.option(
        "--memory",
        "memory_mib",
        type=WholeNumber(16, 1 << 20),
        default=1024,
        show_default=True,
        help=f"MiB that {what} may take.",
    )


def domains_option(command: Command) -> Command:
    """Add `--domains`."""
    return click.option(
        "--domains",
        type=WholeNumber(1, DOMAINS_MAX),
        default=None,
        help="Second-level domains, about.  [default: the profile's]",
    )(command)
