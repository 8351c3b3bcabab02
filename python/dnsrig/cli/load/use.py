"""Which options of `dnsrig load` go together.

An option that nothing heeds is refused: the figures would be of something else than was asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from click.core import ParameterSource

from dnsrig.cli.load.queries import EDNS_MAKERS, TEXT_SUFFIXES, Options

HEADER = ("cd", "ad", "no_rd")
MESSAGE = (*HEADER, "edns", "dnssec", "edns_size", "nsid", "ecs", "edns_options", "padding")
"""What each message has, where dnsrig makes the messages."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Options that are of no use `when` something holds; `why` ends the sentence that begins with their name."""

    options: tuple[str, ...]
    when: Callable[[Options], bool]
    why: str


def _has_capture(options: Options) -> bool:
    return bool(options["replay"]) and Path(options["replay"]).suffix not in TEXT_SUFFIXES


RULES = (
    Rule(
        ("capture_ports", "client_by_port"),
        lambda given: not _has_capture(given),
        "is about a capture: it goes with --replay",
    ),
    Rule(("types", "count"), lambda given: not given["patterns"], "goes with --generate"),
    Rule(
        ("updates", "binary", "skip_bad"),
        lambda given: given["patterns"] or given["replay"],
        "is about a query file: it goes with -d",
    ),
    Rule(("updates",), lambda given: given["binary"], "and -B are two forms of a query file; give one of them"),
    Rule(("skip_bad",), lambda given: given["binary"], "is about lines, and -B has none"),
    Rule(MESSAGE, lambda given: given["binary"], "changes nothing with -B: messages are sent as they are"),
    Rule(MESSAGE, _has_capture, "changes nothing with --replay CAPTURE: messages are sent as they are"),
    Rule(HEADER, lambda given: given["updates"], "is about queries; dynamic updates (-u) do not have that bit"),
    Rule(
        ("edns_size",),
        lambda given: not any(given[name] for name in EDNS_MAKERS),
        "goes with EDNS: -e, -D or another option that adds it",
    ),
    Rule(("loss", "p99_ms", "min_qps", "max_qps"), lambda given: not given["searching"], "goes with --search"),
    Rule(
        ("limit_s", "passes", "queries"),
        lambda given: given["searching"],
        "does not go with --search, which ends when it has found the rate",
    ),
)


def check_use(context: click.Context, options: Options) -> None:
    """See that every option that was given is of use.

    Raises:
        click.UsageError: one is not, or contradicts another.

    """
    names = {str(parameter.name): parameter.opts[0] for parameter in context.command.params}
    for rule in RULES:
        for option in rule.options:
            if _is_given(context, option, options) and rule.when(options):
                raise click.UsageError(f"{names[option]} {rule.why}")


def _is_given(context: click.Context, option: str, options: Mapping[str, object]) -> bool:
    return option in options and context.get_parameter_source(option) is not ParameterSource.DEFAULT
