"""Dates as key files and signatures write them: YYYYMMDDHHMMSS, UTC."""

import time
from datetime import UTC, datetime


def date_s(digits: str) -> int:
    """Give YYYYMMDD or YYYYMMDDHHMMSS (UTC) in seconds since 1970; raise ValueError where there is no such time."""
    form = "%Y%m%d" if len(digits) == len("YYYYMMDD") else "%Y%m%d%H%M%S"
    return int(datetime.strptime(digits, form).replace(tzinfo=UTC).timestamp())


def date_digits(time_s: int) -> str:
    """Give YYYYMMDDHHMMSS (UTC) of a time in seconds since 1970."""
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(time_s))
