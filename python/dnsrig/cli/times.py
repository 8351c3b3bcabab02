"""Times and durations as dnssec-signzone takes them."""

import re
import time

import click

from dnsrig.dates import UNIT_S, NotATimeError, date_digits, option_time_s
from dnsrig.errors import InputError
from dnsrig.signing import INCEPTION_OFFSET_S, VALIDITY_S, Signing

FORMS = "YYYYMMDD[HHMMSS] (UTC), now, now+N, now-N or +N, with unit y mo w d h mi or none (seconds)"

_DURATION = re.compile(r"([0-9]{1,10})(y|mo|w|d|h|mi)?", re.IGNORECASE | re.ASCII)


def signature_times(start: str | None, end: str | None, now_s: int, end_option: str = "-e") -> tuple[int, int]:
    """Give inception and expiration in seconds since 1970 modulo 2**32 (RFC 4034 section 3.1.5).

    Each is in one of FORMS, or seconds since 1970 in ten digits. Without a date the start counts from now, the end from
    the start. By default signatures begin an hour ago and last 30 days. Raises InputError for anything else.
    """
    inception = now_s - INCEPTION_OFFSET_S if start is None else parse_time(start, "-s", now_s, now_s)
    expiration = inception + VALIDITY_S if end is None else parse_time(end, end_option, now_s, inception)
    return inception % 2**32, expiration % 2**32


def check_validity(signing: Signing, clock_s: int) -> None:
    """Raise InputError for signatures that would never be valid; warn of those that are not valid yet, or not any more.

    They are judged by the time at which the zone is signed; whether they have begun, by `clock_s`, in seconds
    since 1970.
    """
    now_s = signing.now_s

    def shown(time_s: int) -> str:
        # Of the times that these 32 bits can mean, the one nearest to now.
        return date_digits(now_s + (time_s - now_s + 2**31) % 2**32 - 2**31)

    if 0 < (signing.inception - clock_s) % 2**32 < 2**31:
        click.echo(
            f"warning: the signatures begin at {shown(signing.inception)} (-s), in the future: validators take the "
            "zone for bogus until then",
            err=True,
        )
    for option, end in (("-e", signing.expiration), ("-X", signing.keys_expiration)):
        if end is None:
            continue
        length_s = (end - signing.inception) % 2**32
        if not 0 < length_s < 2**31:
            raise InputError(
                f"{option}: signatures would begin at {shown(signing.inception)} (-s) and end at {shown(end)}, which "
                "is not later; choose a later end, or an earlier beginning"
            )
        if length_s <= signing.jitter_s:
            raise InputError(
                f"-j: signatures would begin at {shown(signing.inception)} (-s), and some end {signing.jitter_s} s "
                f"before {shown(end)} ({option}), which is not later; choose a smaller -j, or a later end"
            )
        if (end - now_s) % 2**32 >= 2**31:
            click.echo(f"warning: {option}: signatures end at {shown(end)}, which is past: they are expired", err=True)


def parse_time(text: str, option: str, now_s: int, plus_counts_from_s: int) -> int:
    """Give the time `text`, the value of `option`, in seconds since 1970."""
    try:
        time_s = option_time_s(text, now_s, plus_counts_from_s)
    except NotATimeError as error:
        raise InputError(f"{option} {text}: not a time; write {FORMS}") from error
    except ValueError as error:
        raise InputError(f"{option} {text}: not a time: there is no such day, hour, minute or second") from error
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
