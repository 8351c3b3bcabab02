"""Wording that commands and reports share."""

import difflib
from collections.abc import Collection, Mapping

from dnsrig.dates import DAY_S, HOUR_S

NO_OTHER_NAMES: Mapping[str, str] = {}
SHORT_S = 2 * HOUR_S
"""Below that seconds are told."""


def counted(number: int, noun: str) -> str:
    """Give a number with its noun: `1 thread`, `2 threads`, `1,000 threads`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: str, known: Collection[str], other_names: Mapping[str, str] = NO_OTHER_NAMES) -> str:
    """Give a question for the nearest of the names `known`, `did you mean bind or nsd?`; "" if none is near.

    `other_names` has what people call them, or others, with the names that they have here.
    """
    names = {one: one for one in known} | {called: one for called, one in other_names.items() if one in known}
    called = name.lower()
    near = [called] if called in names else difflib.get_close_matches(called, names, n=3, cutoff=0.5)
    meant = dict.fromkeys(names[candidate] for candidate in near)
    return f"did you mean {' or '.join(meant)}?" if meant else ""


def lasting(seconds: int) -> str:
    """Give a time as people say it: `90 s`, `5.5 h`, `26.9 days`."""
    if seconds < SHORT_S:
        return f"{seconds:,} s"
    return f"{seconds / HOUR_S:.1f} h" if seconds < 2 * DAY_S else f"{seconds / DAY_S:.1f} days"
