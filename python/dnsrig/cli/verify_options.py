"""What the commands of `dnsrig verify` share: which items, and where the outcome goes."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dnsrig.cli.common import SECONDS, Command, json_option, print_json
from dnsrig.cli.signals import raise_if_interrupted
from dnsrig.cli.streams import say
from dnsrig.cli.verify_files import check_outputs, write_outputs
from dnsrig.cli.verify_trial import INTERRUPTED, Keep, Trial
from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError
from dnsrig.items.catalogue import chosen, items
from dnsrig.servers.base import Server
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.output.as_json import comparison_as_json, item_as_json, items_as_json, verification_as_json
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.output.junit import junit_xml
from dnsrig.verification.output.page import page
from dnsrig.verification.output.terminal import print_comparison, print_item, print_items, print_verification
from dnsrig.verification.output.untried import most_usual_reason, nothing_found
from dnsrig.verification.raised_limits import RAISED_UDP_LIMIT, SIZE_ITEMS, about_size
from dnsrig.verification.reach import LIMIT_S, SLOW_LIMIT_S, SLOW_MS
from dnsrig.verification.runner import Result
from dnsrig.verification.target import Target
from dnsrig.verification.verdicts import Severity, Verdict
from dnsrig.verification.verification import NotVerified, Verification

SLOW_ITEMS_S = 400.0
"""What slow items that are named may take besides: the slowest waits for five minutes."""
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
    click.option("--fail-on-inconclusive", is_flag=True, help="Exit with 1 also if an item is inconclusive."),
    click.option("--compare", is_flag=True, help="Side by side, a column for each target, as two or more always are."),
    click.option("--only-failures", is_flag=True, help="Print only what fails or is inconclusive, and the summary."),
    click.option("--evidence", is_flag=True, help="Print the deciding messages of what failed."),
    click.option("--html", type=OUTPUT, default=None, help="Write a page with all evidence to this file."),
    click.option("--junit", type=OUTPUT, default=None, help="Write JUnit XML to this file."),
    click.option(
        "--limit",
        "limit_s",
        type=SECONDS,
        default=None,
        metavar="SECONDS",
        help="How long all items of a target may take together; what has not ended then is inconclusive. Unless told: "
        f"{LIMIT_S:g} at an address, {SLOW_LIMIT_S:g} if it takes more than {SLOW_MS / 1e3:g} s to answer, no limit "
        "for what the rig starts.",
    ),
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
    limit_s: float | None = None
    """How long the items of a target may take in all; None: as the target's kind has it."""
    fails_on_inconclusive: bool = False
    """Whether items that could not be found out count as failures for the exit code."""
    only_failures: bool = False
    """Whether the terminal shows what fails or is inconclusive alone; files and JSON hold everything."""

    def is_failed_by(self, verification: Verification) -> bool:
        """Say whether the exit code is to tell of what was found."""
        left_open = self.fails_on_inconclusive and bool(verification.of(Verdict.INCONCLUSIVE))
        return left_open or verification.left_all_open or verification.fails_at(self.fail_on)

    def size_items(self) -> Sequence[KnownItem]:
        """Give those of the items to run that are about the size of responses by UDP."""
        return about_size(self.role, self.items())

    def items(self) -> Sequence[KnownItem]:
        """Give the items to run; slow ones only if they are named."""
        if self.item_ids:
            return chosen(self.role, self.item_ids)
        return [known for known in items(self.role) if not known.item.is_slow]

    def limit_of(self, target_s: float | None) -> float | None:
        """Give how long the items may take: as told, else what fits the target, and more where slow ones are named."""
        if self.limit_s is not None or target_s is None:
            return self.limit_s
        return target_s + (SLOW_ITEMS_S if any(known.item.is_slow for known in self.items()) else 0.0)


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
        options.pop("limit_s"),
        options.pop("fail_on_inconclusive"),
        options.pop("only_failures"),
    )
    if explain is not None:
        known = chosen(role, [explain], "--explain")[0]
        print_json(item_as_json(known.item)) if as_json else print_item(known.item)
        return None
    if lists:
        listed = [known.item for known in items(role)]
        print_json(items_as_json(listed)) if as_json else print_items(listed)
        return None
    wishes.items()
    check_outputs({"--html": wishes.html, "--junit": wishes.junit})
    return wishes


def direct_option(command: Command) -> Command:
    """Add the option of paths and proxies for the comparison without them."""
    text = "Run the items twice: through the target, and with nothing between client and server; side by side."
    return click.option("--direct", is_flag=True, help=text)(command)


def raised_limits_option(command: Command) -> Command:
    """Add the option of servers for a second run with another limit of octets by UDP."""
    text = f"Beside it, the items about size with {RAISED_UDP_LIMIT} octets allowed by UDP (servers of the rig)."
    return click.option("--raised-limits", is_flag=True, help=text)(command)


def server_version_option(example: str) -> Callable[[Command], Command]:
    """Give what adds the option of targets at addresses for what they are."""
    text = f"What an address runs, such as '{example}', for known deviations; unless told, it is asked (version.bind)."
    return click.option("--server-version", metavar="TEXT", default=None, help=text)


def check_raised_limits(
    wishes: Wishes, targets: Sequence[str], known: Mapping[str, type[Server] | type[Resolver]]
) -> None:
    """Refuse --raised-limits for a target whose limit the rig cannot set, and where no item is about size."""
    if not wishes.raised_limits:
        return
    for target in targets:
        if target not in known or not known[target].can_limit_udp:
            raise click.UsageError(
                f"--raised-limits: the limit of {target} by UDP cannot be set by the rig; leave it out"
            )
    if not wishes.size_items():
        named = ", ".join(SIZE_ITEMS[wishes.role])
        raise click.UsageError(f"--raised-limits: none of the items is about size; those that are: {named}")


def verify_raised(verify: Callable[[Sequence[KnownItem], int], None], wishes: Wishes) -> None:
    """Verify the same with raised limits, if that was asked for."""
    if wishes.raised_limits:
        verify(wishes.size_items(), RAISED_UDP_LIMIT)


def titled(target: str, udp_limit: int | None) -> str:
    """Name a target and the limit that was set for it."""
    return target if udp_limit is None else f"{target} ({udp_limit} octets)"


def _direct_titled(target: str) -> str:
    return f"{target} (direct)"


def _unkept(target: str, kept: Sequence[Verification], wishes: Wishes) -> list[str]:
    """Name what is wanting of a target: it alone where nothing was kept, else each column that was not."""
    if not kept:
        return [target]
    columns = [_direct_titled(target)] if wishes.direct else []
    columns.append(target)
    if wishes.raised_limits:
        columns.append(titled(target, RAISED_UDP_LIMIT))
    there = {verification.target for verification in kept}
    return [column for column in columns if column not in there]


def _unkept_of(targets: Sequence[str], kept: Sequence[Verification]) -> list[str]:
    """Name those of further targets of which nothing was kept; where they ran side by side, something may have been."""
    there = [verification.target for verification in kept]
    left = []
    for target in targets:
        if target in there:
            there.remove(target)
        else:
            left.append(target)
    return left


def verify_direct(
    role: Role,
    name: str,
    without: Target,
    wishes: Wishes,
    keep: Keep,
    tell: Callable[[Result], None] | None = None,
) -> float:
    """Verify what is there without the target of this name; give how long that took, in seconds."""
    began_s = time.monotonic()
    Trial(role, _direct_titled(name), keep).run(without, wishes.items(), wishes.limit_s, tell)
    return time.monotonic() - began_s


def verify_each(targets: Sequence[str], verify: Callable[[str, Keep], None], wishes: Wishes) -> int:
    """Verify the targets one after another, report, and give the exit code.

    `verify` keeps what it finds of a target: one verification, or several, such as one without it, each a column of
    its own. Whatever ends it before all targets are verified, what was found till then is reported, and says so.

    Raises:
        DnsrigError: the only target cannot be verified, or the command line is wrong.
        KeyboardInterrupt: it was interrupted.

    """
    if not all(target.strip() for target in targets):
        raise click.UsageError("a TARGET is empty: give an address, a host name, or a name of `dnsrig servers`")
    if wishes.compare and len(targets) < 2 and not (wishes.direct or wishes.raised_limits):
        raise click.UsageError("--compare: name two TARGETs or more")
    found: list[Verification] = []
    not_verified: list[tuple[str, str]] = []
    exit_code = 0

    for place, target in enumerate(targets):
        trial = Trial(wishes.role, target, found.append)
        before = len(found)
        try:
            _verify_one(target, verify, found.append)
        except KeyboardInterrupt:
            own = 1 + wishes.direct + wishes.raised_limits
            left = [*_unkept(target, found[before:], wishes), *_unkept_of(targets[place + 1 :], found[before + own :])]
            if len(targets) == 1 and not found:
                found.append(trial.nothing(INTERRUPTED))
                left = []
            _report_interrupted(found, [*not_verified, *((name, INTERRUPTED) for name in left)], wishes)
            raise
        except DnsrigError as error:
            if isinstance(error, InputError) and not found and not not_verified:
                raise
            if len(targets) == 1 and not found:
                report([trial.nothing(str(error))], [], wishes)
                raise
            exit_code = max(exit_code, error.exit_code)
            # It may also come at the end, when what was started is put away.
            not_verified += [(name, str(error)) for name in _unkept(target, found[before:], wishes) or [target]]
    failed = report(found, not_verified, wishes)
    if found and not not_verified and all(verification.found_nothing for verification in found):
        raise InputError(nothing_found(found))
    return failed or exit_code


def _verify_one(target: str, verify: Callable[[str, Keep], None], keep: Keep) -> None:
    """Verify a target.

    Raises:
        KeyboardInterrupt: it was interrupted, also where a library made something else of that, or nothing.

    """
    try:
        verify(target, keep)
    except DnsrigError:
        raise_if_interrupted()
        raise
    raise_if_interrupted()


def _report_interrupted(found: Sequence[Verification], not_verified: NotVerified, wishes: Wishes) -> None:
    """Report what was found, as far as that can be done: where a terminal was closed, nobody reads it."""
    try:
        report(found, not_verified, wishes)
    except DnsrigError as error:
        say(f"dnsrig: {error}")
    except OSError:
        pass


def report(verifications: Sequence[Verification], not_verified: NotVerified, wishes: Wishes) -> int:
    """Write the files that were asked for, print what was found, and give the exit code.

    What can be written or printed is, whatever else cannot.

    Raises:
        EnvironmentLacksError: a file, or standard output, cannot be written.

    """
    texts: dict[Path, Callable[[], str]] = {}
    if wishes.junit is not None:
        left_open = wishes.fails_on_inconclusive
        texts[wishes.junit] = lambda: junit_xml(
            verifications, wishes.fail_on, not_verified, fails_on_inconclusive=left_open
        )
    if wishes.html is not None:
        texts[wishes.html] = lambda: page(verifications, not_verified)
    unwritten = write_outputs(texts)
    try:
        _print(verifications, not_verified, wishes)
        # Written now: what could not be is to be said before the files.
        sys.stdout.flush()
    except (OSError, EnvironmentLacksError):
        if unwritten:
            say(f"dnsrig: {unwritten}")
        raise
    for target, reason in not_verified:
        say(f"not verified: {target}: {reason}")
    for verification in verifications:
        if verification.left_all_open and not verification.incomplete:
            say(f"nothing found out: {verification.target}: {most_usual_reason(verification)}")
    if unwritten:
        raise EnvironmentLacksError(unwritten)
    return int(any(wishes.is_failed_by(verification) for verification in verifications))


def _print(verifications: Sequence[Verification], not_verified: NotVerified, wishes: Wishes) -> None:
    is_one = len(verifications) == 1 and not not_verified
    if wishes.as_json:
        print_json(
            verification_as_json(verifications[0]) if is_one else comparison_as_json(verifications, not_verified)
        )
    elif len(verifications) == 1:
        print_verification(verifications[0], shows_evidence=wishes.evidence, only_failures=wishes.only_failures)
    else:
        print_comparison(Comparison(verifications), shows_evidence=wishes.evidence, only_failures=wishes.only_failures)


def refuse_unused(names: Mapping[str, str], why: str) -> None:
    """Refuse options, by the names of their parameters, that the user gave and that would be ignored.

    Raises:
        click.UsageError: one was given.

    """
    context = click.get_current_context()
    for name, option in names.items():
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option}: {why}")
