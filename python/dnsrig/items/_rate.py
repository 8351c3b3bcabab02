"""Whether what answers few of many queries at once has a limit of its rate, which is no want of room."""

import time
from collections.abc import Callable, Sequence

from dnsrig.verification.asker import Asker
from dnsrig.verification.at_once import udp_at_once
from dnsrig.verification.queries import Query

LONG_S, LONGEST_S = 4.0, 12.0
"""How long it asks, and where more come than a limit lets pass for long, but too few to tell."""
CLEARLY = 1.1
"""More than so many times what the crowd got, in each second."""
MOST_WAIT_S = 1.0
WINDOWS = 2
"""So many seconds' worth it lets pass beside what the time gives: it may have saved one, and count by the clock."""


def limits_rate(asker: Asker, few: Sequence[int], longest_ms: float, queries: Callable[[int], Sequence[Query]]) -> str:
    """Say, as a clause, that a limit of the rate may be why `few` queries of a crowd are answered each time; "" if not.

    Half as many are asked for, again and again, each time when the last ones are answered, for which `longest_ms` were
    enough. Where that gives more in a second than the crowd got, it is no limit of the rate.
    """
    most, size = max(1, *few), max(1, min(few) // 2)
    wait_s = min(MOST_WAIT_S, 1.5 * longest_ms / 1e3 + 0.05)
    began, sent, answered, passed_s = time.monotonic(), 0, 0, 0.0
    while passed_s < LONG_S or (passed_s < LONGEST_S and answered > CLEARLY * most * passed_s):
        sent += size
        answered += sum(one.message is not None for one in udp_at_once(asker, queries(size), wait_s))
        passed_s = time.monotonic() - began
        if answered > most * (passed_s + WINDOWS):
            return ""
    return f"asked {size} at a time, {answered} of {sent} are answered in {passed_s:.1f} s: it may limit its rate"
