"""Limits of the rate of queries, which are no faults: 20 a second, as AdGuard Home has as shipped."""

import time

from dnsrig.verification.faults.fault import Fault, Passage

RATE, SAVED = 20, 20
"""Queries a second, and how many a bucket holds."""


def _by_the_clock(passage: Passage) -> bytes | None:
    """Let so many pass in each second of the clock."""
    key = int(time.monotonic())
    count = len(passage.cache.setdefault(key, (b"", 0.0))[0]) + 1
    passage.cache[key] = bytes(count), 0.0
    return passage.query if count <= RATE else None


def _from_a_bucket(passage: Passage) -> bytes | None:
    """Let pass what a bucket has, into which so many drop each second."""
    now_s = time.monotonic()
    _, full_s = passage.cache.get("full", (b"", now_s))
    # When it will be full again, if nothing more is taken.
    full_s = max(full_s, now_s) + 1 / RATE
    if full_s - now_s > SAVED / RATE:
        return None
    passage.cache["full"] = b"", full_s
    return passage.query


BY_THE_CLOCK = Fault(name="by-the-clock", does="limits its rate", roles=(), on_query=_by_the_clock)
FROM_A_BUCKET = Fault(name="from-a-bucket", does="limits its rate", roles=(), on_query=_from_a_bucket, delay_s=0.2)
