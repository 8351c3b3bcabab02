"""Times of captures as people read them."""

from datetime import UTC, datetime

NS_PER_S = 1_000_000_000


def timestamp(time_ns: int) -> str:
    """Give a time in ns since 1970 as RFC 3339 has it, with as much of the second as is not zero."""
    seconds, fraction_ns = divmod(time_ns, NS_PER_S)
    fraction = f".{fraction_ns:09d}".rstrip("0").rstrip(".")
    try:
        whole = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{seconds}{fraction} s since 1970"
    return f"{whole:%Y-%m-%dT%H:%M:%S}{fraction}Z"
