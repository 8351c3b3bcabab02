"""Times of keys as dnssec-keygen and dnssec-settime take them."""

import time
from collections.abc import Callable, Mapping

import click

from dnsrig.cli.common import Command
from dnsrig.cli.sections import SectionedCommand, section
from dnsrig.dates import NotATimeError, option_time_s

LATEST_S = 2**32 - 1
"""Key files of BIND have times of 32 bits."""

_UNSET = {"none", "never", "unset"}
FORMS = "YYYYMMDD[HHMMSS] (UTC), now, now+N, +N or -N with unit y mo w d h mi, or none"


def key_time(text: str) -> int | None:
    """Give a time in seconds since 1970, or None for no time (`none`); raise click.BadParameter for anything else."""
    if text.lower() in _UNSET:
        return None
    now_s = int(time.time())
    try:
        time_s = option_time_s(text, now_s, now_s)
    except NotATimeError as error:
        raise click.BadParameter(f"'{text}' is not a time; write {FORMS}.") from error
    except ValueError as error:
        raise click.BadParameter(f"'{text}' is not a time: there is no such day, hour, minute or second.") from error
    if not 0 <= time_s <= LATEST_S:
        raise click.BadParameter(f"'{text}' is not between 1970 and 2106, as times in key files are.")
    return time_s


def oddities(timing: Mapping[str, int | None], *, is_ksk: bool) -> list[str]:
    """Name the pairs of times that make a key useless, such as an inactivation before the activation.

    Signatures may come before their key (RFC 6781 section 4.1.4), but only those of a new algorithm.
    """
    order = ("Publish", "Activate", "Inactive", "Delete")
    pairs = [(first, second) for index, first in enumerate(order) for second in order[index + 1 :]]
    pairs += [("SyncPublish", "SyncDelete"), ("Publish", "Revoke")]
    odd = []
    for first, second in pairs:
        start, end = timing.get(first), timing.get(second)
        if start is None or end is None or end >= start:
            continue
        odd.append(f"{second} is before {first}")
        if (first, second) == ("Publish", "Activate"):
            odd[-1] += ", so it signs before its publication only where the zone has no key of its algorithm"
    if not is_ksk and timing.get("Revoke") is not None:
        odd.append("Revoke is for key-signing keys (RFC 5011), and this key has not the SEP flag")
    return odd


SECTION = section(f"Times: {FORMS}")
_OPTIONS = (
    ("-P", "--publish", "Publish", "The key enters the zone"),
    ("-A", "--activate", "Activate", "It begins to sign"),
    ("-R", "--revoke", "Revoke", "It is revoked (RFC 5011)."),
    ("-I", "--inactive", "Inactive", "It stops signing."),
    ("-D", "--delete", "Delete", "It leaves the zone."),
    ("", "--sync-publish", "SyncPublish", "CDS and CDNSKEY records appear; also -P sync DATE."),
    ("", "--sync-delete", "SyncDelete", "They disappear; also -D sync DATE."),
)


def timing_options(default: str) -> Callable[[Command], Command]:
    """Add the options for a key's times, as BIND has them; `default` is that of publication and activation."""

    def add(command: Command) -> Command:
        for short, long, event, text in reversed(_OPTIONS):
            names = tuple(name for name in (short, long) if name)
            said = text if text.endswith(".") else f"{text}{default}."
            command = SECTION(*names, event.lower(), metavar="DATE", callback=noted(event), help=said)(command)
        return command

    return add


def given_times(context: click.Context) -> dict[str, int | None]:
    """Give the times that options with `noted` have set, by event; None takes one away."""
    given: dict[str, int | None] = context.meta.get("timing", {})
    return given


def noted(event: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    """Give an option's callback, by which given_times has the time of `event`."""

    def note(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta.setdefault("timing", {})[event] = key_time(value)

    return note


class TimedCommand(SectionedCommand):
    """A command that takes `-P sync DATE` and the like, as dnssec-keygen and dnssec-settime do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse `args` with the two words made one option, where the command has it."""
        long = {("-P", "sync"): "--sync-publish", ("-D", "sync"): "--sync-delete", ("-P", "ds"): "--ds-publish"}
        known = {name for parameter in self.params for name in parameter.opts}
        long = {words: option for words, option in long.items() if option in known}
        made: list[str] = []
        for word in args:
            option = long.get((made[-1], word)) if made else None
            if option is not None:
                made.pop()
            made.append(option or word)
        return super().parse_args(ctx, made)
