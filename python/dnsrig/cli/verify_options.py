"""What the commands of `dnsrig verify` share: which items, and where the outcome goes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import Command, json_option, print_json
from dnsrig.errors import EnvironmentLacksError
from dnsrig.items.catalogue import chosen, items
from dnsrig.runs.writing import write_text
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.output.as_json import item_as_json, verification_as_json
from dnsrig.verification.output.junit import junit_xml
from dnsrig.verification.output.page import page
from dnsrig.verification.output.terminal import print_comparison, print_item, print_items, print_verification
from dnsrig.verification.verdicts import Severity
from dnsrig.verification.verification import Verification

OUTPUT = click.Path(dir_okay=False, path_type=Path)
OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option("--item", "item_ids", multiple=True, metavar="ID", help="Only this item; may be repeated."),
    click.option("--list", "lists", is_flag=True, help="List the items and end."),
    click.option("--explain", metavar="ID", default=None, help="Say what an item asks, why, and how to see it by dig."),
    click.option(
        "--fail-on",
        type=click.Choice([str(severity) for severity in Severity]),
        default=str(Severity.ERROR),
        show_default=True,
        help="Exit with 1 if an item of at least this severity fails.",
    ),
    click.option("--evidence", is_flag=True, help="Print the deciding messages of what failed."),
    click.option("--html", type=OUTPUT, default=None, help="Write a page with all evidence to this file."),
    click.option("--junit", type=OUTPUT, default=None, help="Write JUnit XML to this file."),
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the shared options say."""

    role: Role
    item_ids: tuple[str, ...]
    fail_on: Severity
    evidence: bool
    html: Path | None
    junit: Path | None
    as_json: bool

    def items(self) -> Sequence[KnownItem]:
        """Give the items to run; slow ones only if they are named."""
        if self.item_ids:
            return chosen(self.role, self.item_ids)
        return [known for known in items(self.role) if not known.item.is_slow]


def verify_options(command: Command) -> Command:
    """Add the shared options."""
    command = json_option(command)
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def wishes_of(role: Role, options: dict[str, Any]) -> Wishes | None:
    """Take the shared options out of `options`; None if they asked for a list or an explanation, which was printed."""
    lists, explain, as_json = options.pop("lists"), options.pop("explain"), options.pop("as_json")
    wishes = Wishes(
        role,
        options.pop("item_ids"),
        Severity(options.pop("fail_on")),
        options.pop("evidence"),
        options.pop("html"),
        options.pop("junit"),
        as_json,
    )
    if explain is not None:
        known = chosen(role, [explain])[0]
        print_json(item_as_json(known.item)) if as_json else print_item(known.item)
        return None
    if lists:
        listed = [known.item for known in items(role)]
        print_json({"items": [item_as_json(item) for item in listed]}) if as_json else print_items(listed)
        return None
    return wishes


def report(verifications: Sequence[Verification], wishes: Wishes) -> int:
    """Print what was found, write the files that were asked for, and give the exit code."""
    if wishes.junit is not None:
        _write(wishes.junit, junit_xml(verifications, wishes.fail_on))
    if wishes.html is not None:
        _write(wishes.html, page(verifications))
    if wishes.as_json:
        found = [verification_as_json(verification) for verification in verifications]
        print_json(found[0] if len(found) == 1 else {"verifications": found})
    elif len(verifications) == 1:
        print_verification(verifications[0], shows_evidence=wishes.evidence)
    else:
        print_comparison(verifications)
    return int(any(verification.fails_at(wishes.fail_on) for verification in verifications))


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: {error.strerror}; name another file") from error
