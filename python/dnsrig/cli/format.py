"""Numbers as people read them on a terminal."""

from dnsrig.dates import DAY_S

_NS_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns"))


def count(number: int) -> str:
    """Group thousands: 1,234,567."""
    return f"{number:,}"


def rate(qps: float) -> str:
    """Give a rate: 12,345 or, below a hundred, 1.23."""
    return f"{qps:,.0f}" if qps >= 100 else f"{qps:.2f}"


def duration(ns: int | None) -> str:
    """Give nanoseconds with three figures in the unit that fits: 1.23 ms."""
    if ns is None:
        return "-"
    for size, unit in _NS_UNITS:
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return "0"


def span(seconds: float) -> str:
    """Give the length of a stream: 12.345 s, and long ones in days, too."""
    days = seconds / DAY_S
    return f"{seconds:,.3f} s" + (f" ({days:,.1f} days)" if days >= 1 else "")


def octets(size: float | None) -> str:
    """Give a message size in octets."""
    if size is None:
        return "-"
    return f"{size:.1f} octets"


def microseconds(value: float | None) -> str:
    """Give a cost in microseconds."""
    return "-" if value is None else f"{value:.2f} us"


def share(part: int, whole: int) -> str:
    """Give a share in per cent, with enough figures that a small one does not read as none."""
    if whole == 0 or part == 0:
        return "-"
    percent = 100 * part / whole
    return f"{percent:.2f} %" if percent >= 0.01 else "<0.01 %"
