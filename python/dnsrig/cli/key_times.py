"""Times of keys as dnssec-keygen and dnssec-settime take them."""

import re
import time
from datetime import UTC, datetime

import click

UNIT_S = {"": 1, "mi": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400}
"""Seconds of the units of offsets; months and years are as long as BIND has them."""
LATEST_S = 2**32 - 1
"""Key files of BIND have times of 32 bits."""

_TIME = re.compile(r"(?P<date>now|[0-9]{8}|[0-9]{14})?(?P<offset>[+-][0-9]{1,12}(?P<unit>y|mo|w|d|h|mi)?)?")
_UNSET = {"none", "never", "unset"}
FORMS = "YYYYMMDD[HHMMSS] (UTC), now, now+N, +N or -N with unit y mo w d h mi, or none"


def key_time(text: str) -> int | None:
    """Give a time in seconds since 1970, or None for no time (`none`); raise click.BadParameter for anything else."""
    if text in _UNSET:
        return None
    parts = _TIME.fullmatch(text)
    if not text or parts is None:
        raise click.BadParameter(f"'{text}' is not a time; write {FORMS}.")
    date = parts["date"]
    try:
        time_s = int(time.time()) if date in {None, "now"} else date_s(date)
    except ValueError as error:
        raise click.BadParameter(f"'{text}' is not a time: there is no such day, hour, minute or second.") from error
    time_s += offset_s(parts)
    if not 0 <= time_s <= LATEST_S:
        raise click.BadParameter(f"'{text}' is not between 1970 and 2106, as times in key files are.")
    return time_s


def date_s(digits: str) -> int:
    """Give YYYYMMDD or YYYYMMDDHHMMSS (UTC) in seconds since 1970; raise ValueError where there is no such time."""
    form = "%Y%m%d" if len(digits) == len("YYYYMMDD") else "%Y%m%d%H%M%S"
    return int(datetime.strptime(digits, form).replace(tzinfo=UTC).timestamp())


def offset_s(parts: re.Match[str]) -> int:
    """Give the offset of a time that was matched, of its groups `offset` and `unit`, in seconds; 0 without one."""
    unit = parts["unit"] or ""
    return int((parts["offset"] or "0").removesuffix(unit)) * UNIT_S[unit.lower()]


def odd_order(timing: dict[str, int | None]) -> list[str]:
    """Name the pairs of times that make a key useless, such as an inactivation before the activation."""
    order = ("Publish", "Activate", "Inactive", "Delete")
    pairs = [(first, second) for index, first in enumerate(order) for second in order[index + 1 :]]
    pairs += [("SyncPublish", "SyncDelete"), ("Publish", "Revoke")]
    odd = []
    for first, second in pairs:
        start, end = timing.get(first), timing.get(second)
        # Signatures may come before their key (RFC 6781 section 4.1.4).
        if (first, second) != ("Publish", "Activate") and start is not None and end is not None and end < start:
            odd.append(f"{second} is before {first}")
    return odd
