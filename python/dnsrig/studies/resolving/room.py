"""Memory and disk that streams take: what there is not room for is refused before it is made."""

import shutil
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.studies.resolving.memory import SHARE_OF_FREE, free_octets

LISTED_OCTETS = 500
"""About what a query takes of this process's memory while its stream is made of Python's lists."""
MADE_OCTETS = 50
"""The same where it is made in columns (`clients`): 20, and a share of its name's."""
HELD_OCTETS = 85
"""About what a query takes while its stream is there to be sent: its message, its time and its client."""
CLIENT_OCTETS = 6500
"""About what a socket of a replay takes: 3,000 in the kernel, the others in the load."""
LINE_OCTETS = 75
"""About what a query takes among a run's inputs."""
MOST_OF_A_STREAM = 100_000_000
"""Queries that a stream can have (`_core.QueryStream`)."""
GB = 1e9


def left_octets() -> float:
    """Give how much memory streams may take: what is free, but for the share of simulated Internets."""
    return free_octets() * (1 - SHARE_OF_FREE)


def refuse_too_many(queries: float, what: str, each_octets: float = LISTED_OCTETS, more_octets: float = 0.0) -> None:
    """Raise InputError for more queries than this process has memory for.

    What is free is shared with simulated Internets, which may take their share later.

    Args:
        queries: how many there are.
        what: what makes them so many.
        each_octets: what one takes.
        more_octets: what is needed beside them.

    """
    needed, left = queries * each_octets + more_octets, left_octets()
    if needed > left:
        raise InputError(
            f"{what} make {queries:,.0f} queries, for which about {needed / GB:,.1f} GB of memory are needed; "
            f"{left / (1 - SHARE_OF_FREE) / GB:,.1f} GB are free, of which streams may take {left / GB:,.1f} (the rest "
            "is for the simulated Internet and the resolver): take fewer queries, or a machine with more memory"
        )


def require_disk(octets: float, folder: Path) -> None:
    """Raise EnvironmentLacksError if the disk that a run's folder is on has not so much room."""
    free = shutil.disk_usage(folder).free
    if octets > free:
        raise EnvironmentLacksError(
            f"the streams take about {octets / GB:,.1f} GB of disk, and {folder} has {free / GB:,.1f} GB left: free "
            "some, take another folder (--out), or take fewer queries"
        )
