"""Queries that are asked at the same time."""

from collections.abc import Sequence
from dataclasses import replace

from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import thread_pool


def udp_at_once(asker: Asker, queries: Sequence[Query], wait_s: float) -> list[Exchange]:
    """Send all queries at once, each a single time by UDP and from a port of its own; wait `wait_s` for each."""
    hasty = replace(asker, udp_waits_s=(wait_s,))
    with thread_pool(len(queries), "at-once") as pool:
        return list(pool.map(hasty.udp, queries))
