"""What the commands of `dnsrig verify` share: which items, and where the outcome goes."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from dnsrig.cli.common import Command, json_option, print_json
from dnsrig.errors import DnsrigError, EnvironmentLacksError, SubjectFailedError
from dnsrig.items.catalogue import chosen, items
from dnsrig.runs.writing import write_text
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.output.as_json import comparison_as_json, item_as_json, verification_as_json
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.output.junit import junit_xml
from dnsrig.verification.output.page import page
from dnsrig.verification.output.terminal import print_comparison, print_item, print_items, print_verification
from dnsrig.verification.runner import Subject, run_items
from dnsrig.verification.verdicts import Severity
from dnsrig.verification.verification import Verification

RAISED_UDP_LIMIT = 4096
"""What servers allowed by UDP before 2020, and JPRS-2010 asks for."""
SIZE_ITEMS: Mapping[Role, Sequence[str]] = {
    "authoritative": ("A-85", "A-86", "A-87"),
    "resolver": ("F-85", "F-86", "F-87"),
    "proxy": ("P-2", "P-3", "P-large"),
    "path": (),
}
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
    click.option("--compare", is_flag=True, help="Side by side, a column for each target, as two or more always are."),
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
    compare: bool = False
    direct: bool = False
    """Paths and proxies: beside each, the same without it."""
    raised_limits: bool = False
    """Beside each server that the rig starts, its items about size with a raised limit of octets by UDP."""

    def size_items(self) -> Sequence[KnownItem]:
        """Give those of the items to run that are about the size of responses by UDP."""
        return [known for known in self.items() if known.item.id in SIZE_ITEMS[self.role]]

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
        options.pop("compare"),
        options.pop("direct", False),
        options.pop("raised_limits", False),
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


def direct_option(command: Command) -> Command:
    """Add the option of paths and proxies for the comparison without them."""
    text = "Beside it, the same items without it: the rig's server asked directly."
    return click.option("--direct", is_flag=True, help=text)(command)


def raised_limits_option(command: Command) -> Command:
    """Add the option of servers for a second run with another limit of octets by UDP."""
    text = f"Beside it, the items about size with {RAISED_UDP_LIMIT} octets allowed by UDP (servers of the rig)."
    return click.option("--raised-limits", is_flag=True, help=text)(command)


def check_raised_limits(wishes: Wishes, targets: Sequence[str], able: Callable[[str], bool]) -> None:
    """Refuse --raised-limits for a target whose limit the rig cannot set, and where no item is about size."""
    if not wishes.raised_limits:
        return
    for target in targets:
        if not able(target):
            raise click.UsageError(
                f"--raised-limits: the limit of {target} by UDP cannot be set by the rig; leave it out"
            )
    if not wishes.size_items():
        named = ", ".join(SIZE_ITEMS[wishes.role])
        raise click.UsageError(f"--raised-limits: none of the items is about size; those that are: {named}")


def raised_beside(
    target: str, verify: Callable[[Sequence[KnownItem], int], Verification], wishes: Wishes
) -> Sequence[Verification]:
    """Verify the same with raised limits, if that was asked for: one verification, or none."""
    if not wishes.raised_limits:
        return []
    return [replace(verify(wishes.size_items(), RAISED_UDP_LIMIT), target=f"{target} ({RAISED_UDP_LIMIT} octets)")]


def direct_beside(role: Role, target: str, without: Callable[[], Subject], wishes: Wishes) -> Sequence[Verification]:
    """Verify the same without the target, if that was asked for: one verification, or none."""
    if not wishes.direct:
        return []
    began = time.monotonic()
    results = run_items(wishes.items(), without())
    return [Verification(role, f"{target} (direct)", None, None, results, time.monotonic() - began)]


def verify_each(
    targets: Sequence[str], verify: Callable[[str], Verification | Sequence[Verification]], wishes: Wishes
) -> int:
    """Verify the targets one after another, report, and give the exit code.

    A target may give several verifications, such as one without it, each a column of its own. Of several targets, one
    that is not installed or does not answer leaves the others their results. Where none could be verified, the first
    reason is raised.
    """
    if wishes.compare and len(targets) < 2 and not (wishes.direct or wishes.raised_limits):
        raise click.UsageError("--compare: name two TARGETs or more")
    found: list[Verification] = []
    errors: dict[str, DnsrigError] = {}
    for target in targets:
        try:
            made = verify(target)
            found += [made] if isinstance(made, Verification) else made
        except (EnvironmentLacksError, SubjectFailedError) as error:
            if len(targets) == 1:
                raise
            errors[target] = error
    if not found:
        raise next(iter(errors.values()))
    failed = report(found, {target: str(error) for target, error in errors.items()}, wishes)
    for target, reason in errors.items():
        click.echo(f"not verified: {target}: {reason}", err=True)
    return failed or max((reason.exit_code for reason in errors.values()), default=0)


def report(verifications: Sequence[Verification], not_verified: Mapping[str, str], wishes: Wishes) -> int:
    """Print what was found, write the files that were asked for, and give the exit code."""
    if wishes.junit is not None:
        _write(wishes.junit, junit_xml(verifications, wishes.fail_on))
    if wishes.html is not None:
        _write(wishes.html, page(verifications))
    is_one = len(verifications) + len(not_verified) == 1
    if wishes.as_json:
        print_json(
            verification_as_json(verifications[0]) if is_one else comparison_as_json(verifications, not_verified)
        )
    elif is_one:
        print_verification(verifications[0], shows_evidence=wishes.evidence)
    else:
        print_comparison(Comparison(verifications), shows_evidence=wishes.evidence)
    return int(any(verification.fails_at(wishes.fail_on) for verification in verifications))


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: {error.strerror}; name another file") from error
