"""Wording that commands and reports share."""


def counted(number: int, noun: str) -> str:
    """Give a number with its noun: `1 thread`, `2 threads`, `1,000 threads`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
