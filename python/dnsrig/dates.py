"""Times as key files, signatures and the options of BIND's DNSSEC tools write them, UTC."""

import re
import time
from datetime import UTC, datetime

HOUR_S, DAY_S = 3600, 86_400
UNIT_S = {"": 1, "mi": 60, "h": HOUR_S, "d": DAY_S, "w": 7 * DAY_S, "mo": 30 * DAY_S, "y": 365 * DAY_S}
"""Seconds of the units of offsets; months and years are as long as BIND has them."""

_TIME = re.compile(
    r"(?P<date>now|[0-9]{8}|[0-9]{10}|[0-9]{14})?(?:(?P<sign>[+-])(?P<number>[0-9]{1,12})(?P<unit>y|mo|w|d|h|mi)?)?",
    re.IGNORECASE | re.ASCII,
)
_SECONDS_DIGITS = 10
"""Digits of a time in seconds since 1970; dates have more or fewer."""


class NotATimeError(ValueError):
    """A text is not in any form of a time, rather than a date that does not exist."""


def date_s(digits: str) -> int:
    """Give YYYYMMDD or YYYYMMDDHHMMSS (UTC) in seconds since 1970; raise ValueError where there is no such time."""
    form = "%Y%m%d" if len(digits) == len("YYYYMMDD") else "%Y%m%d%H%M%S"
    return int(datetime.strptime(digits, form).replace(tzinfo=UTC).timestamp())


def date_digits(time_s: int) -> str:
    """Give YYYYMMDDHHMMSS (UTC) of a time in seconds since 1970."""
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(time_s))


def option_time_s(text: str, now_s: int, offsets_count_from_s: int) -> int:
    """Give the time `text` in seconds since 1970, in the forms of dnssec-keygen, dnssec-settime and dnssec-signzone.

    They are YYYYMMDD, YYYYMMDDHHMMSS, seconds since 1970 in ten digits, and `now`, each with an offset after it or
    without, and an offset alone, which counts from `offsets_count_from_s`.

    Raises:
        NotATimeError: it is something else.
        ValueError: there is no such day, hour, minute or second.

    """
    parts = _TIME.fullmatch(text)
    if not text or parts is None:
        raise NotATimeError(text)
    date = parts["date"]
    if date is None:
        time_s = offsets_count_from_s
    elif date.lower() == "now":
        time_s = now_s
    else:
        time_s = int(date) if len(date) == _SECONDS_DIGITS else date_s(date)
    offset_s = int(parts["number"] or "0") * UNIT_S[(parts["unit"] or "").lower()]
    return time_s - offset_s if parts["sign"] == "-" else time_s + offset_s
