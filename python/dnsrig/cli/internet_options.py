"""Options that the commands of `dnsrig internet` share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dnsrig.cli.common import WholeNumber

Command = TypeVar("Command", bound=Callable[..., Any])
DOMAINS_MAX = 1_000_000_000


def profile_option(command: Command) -> Command:
    """Add `--profile`."""
    return click.option(
        "--profile",
        default="internet-2022",
        show_default=True,
        help="What the Internet is like: a name, or a file that ends in .toml.",
    )(command)


def domains_option(command: Command) -> Command:
    """Add `--domains`."""
    return click.option(
        "--domains",
        type=WholeNumber(1, DOMAINS_MAX),
        default=None,
        help="Second-level domains, about.  [default: the profile's]",
    )(command)
