"""Times as dnssec-signzone takes them."""

import re
import time
from datetime import UTC, datetime

from dnsrig.errors import InputError

_RELATIVE = re.compile(r"(now)?([+-]\d+)|now")


def signature_times(start: str | None, end: str | None) -> tuple[int | None, int | None]:
    """Give inception and expiration in seconds since 1970 modulo 2**32 (RFC 4034 section 3.1.5); None: the default.

    Each is YYYYMMDDHHMMSS (UTC), `now`, `now+N` or `now-N` seconds; an end of `+N` counts from the start.
    Raises InputError for anything else.
    """
    now = int(time.time())
    inception = None if start is None else _parse(start, "-s", now, now)
    expiration = None if end is None else _parse(end, "-e", now, now - 3600 if inception is None else inception)
    return _wrapped(inception), _wrapped(expiration)


def _parse(text: str, option: str, now: int, plus_counts_from: int) -> int:
    relative = _RELATIVE.fullmatch(text)
    if relative:
        seconds = int(relative[2] or 0)
        return _checked(seconds + (now if text.startswith("now") else plus_counts_from), text, option, now)
    try:
        time_s = int(datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
    except ValueError as error:
        raise InputError(
            f"{option} {text}: not a time; write YYYYMMDDHHMMSS (UTC), now+SECONDS, now-SECONDS or +SECONDS"
        ) from error
    return _checked(time_s, text, option, now)


def _wrapped(seconds: int | None) -> int | None:
    return None if seconds is None else seconds % 2**32


def _checked(seconds: int, text: str, option: str, now: int) -> int:
    # Further away, serial number arithmetic would take it for the past (RFC 4034 section 3.1.5).
    if abs(seconds - now) >= 2**31:
        raise InputError(f"{option} {text}: more than 68 years away, which signatures cannot express")
    return seconds
