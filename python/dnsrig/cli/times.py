"""Times and durations as dnssec-signzone takes them."""

import re
import time

from dnsrig.cli.key_times import UNIT_S, date_s, offset_s
from dnsrig.errors import InputError
from dnsrig.signing import INCEPTION_OFFSET_S, VALIDITY_S

FORMS = "YYYYMMDD[HHMMSS] (UTC), now, now+N, now-N or +N, with unit y mo w d h mi or none (seconds)"

_TIME = re.compile(
    r"(?P<date>now|[0-9]{8}|[0-9]{14}|[0-9]{10})?(?P<offset>[+-][0-9]{1,12}(?P<unit>y|mo|w|d|h|mi)?)?", re.IGNORECASE
)
_DURATION = re.compile(r"([0-9]{1,10})(y|mo|w|d|h|mi)?", re.IGNORECASE)
SECONDS_DIGITS = 10
"""Digits of a time in seconds since 1970; dates have more or fewer."""


def signature_times(start: str | None, end: str | None, now_s: int, end_option: str = "-e") -> tuple[int, int]:
    """Give inception and expiration in seconds since 1970 modulo 2**32 (RFC 4034 section 3.1.5).

    Each is in one of FORMS, or seconds since 1970 in ten digits. Without a date the start counts from now, the end from
    the start. By default signatures begin an hour ago and last 30 days. Raises InputError for anything else.
    """
    inception = now_s - INCEPTION_OFFSET_S if start is None else parse_time(start, "-s", now_s, now_s)
    expiration = inception + VALIDITY_S if end is None else parse_time(end, end_option, now_s, inception)
    return inception % 2**32, expiration % 2**32


def parse_time(text: str, option: str, now_s: int, plus_counts_from_s: int) -> int:
    """Give the time `text`, the value of `option`, in seconds since 1970."""
    parts = _TIME.fullmatch(text)
    if not text or parts is None:
        raise InputError(f"{option} {text}: not a time; write {FORMS}")
    date = parts["date"]
    if date is None:
        time_s = plus_counts_from_s
    elif date.lower() == "now":
        time_s = now_s
    elif len(date) != SECONDS_DIGITS:
        try:
            time_s = date_s(date)
        except ValueError as error:
            raise InputError(f"{option} {text}: not a time: there is no such day, hour, minute or second") from error
    else:
        time_s = int(date)
    time_s += offset_s(parts)
    # Further away, serial number arithmetic would take it for the past (RFC 4034 section 3.1.5).
    if abs(time_s - now_s) >= 2**31:
        raise InputError(f"{option} {text}: more than 68 years away, which signatures cannot express")
    return time_s


def parse_duration(text: str, option: str) -> int:
    """Give the duration `text`, the value of `option`, in seconds."""
    parts = _DURATION.fullmatch(text)
    if parts is None:
        raise InputError(f"{option} {text}: not a duration; write seconds, or a number with unit y mo w d h mi")
    seconds = int(parts[1]) * UNIT_S[(parts[2] or "").lower()]
    if seconds >= 2**31:
        raise InputError(f"{option} {text}: longer than 68 years, which signatures cannot express")
    return seconds


def present_s() -> int:
    """Give the time in seconds since 1970."""
    return int(time.time())
