"""How many clients of a replay this machine carries, each of which has a socket of its own."""

import resource
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving.clients import synthetic

OTHER_FILES = 256
"""Open files that a load needs beside those of its clients."""
CLIENT_PORTS = (1024, 65_535)
"""Local ports that clients may have: they are alone in their namespace."""
PORTS = CLIENT_PORTS[1] - CLIENT_PORTS[0] + 1
MOST_ADDRESSES = 16
"""Addresses that clients may have: they have about as many ports as a process may have open files (fs.nr_open)."""
SAMPLE_QUERIES = 20_000
"""Of synthetic traffic, to see how many clients ask."""
STEP_QPS = 100


def most_clients() -> tuple[int, str]:
    """Give how many clients can have a socket at a time, at least 1, and what limits them.

    Raises:
        EnvironmentLacksError: none can, as so few files may be open.

    """
    ports = PORTS * MOST_ADDRESSES
    files = _most_files(ports + OTHER_FILES) - OTHER_FILES
    said = f"this process may have {files + OTHER_FILES:,} open files (ulimit -Hn, fs.nr_open)"
    if files < 1:
        raise EnvironmentLacksError(
            f"{said}, and a load needs {OTHER_FILES:,} beside a socket for each client: raise the limit, for example "
            "with ulimit -Hn 65536 as root"
        )
    if files < ports:
        return files, said
    return ports, f"clients have {MOST_ADDRESSES} addresses, with {PORTS:,} ports each"


def shared_by_clients(run: RunFolder) -> int:
    """Give how many sockets clients of a run may share, and note it: of one that is resumed as many as before."""
    most = run.manifest()["facts"].get("most_sockets") or most_clients()[0]
    run.note(most_sockets=most)
    return int(most)


def require_as_before(sockets: int) -> None:
    """Raise EnvironmentLacksError if a run that is resumed needs more sockets than may be open now."""
    most, why = most_clients()
    if sockets > most:
        raise EnvironmentLacksError(
            f"the run began with {sockets:,} sockets of clients, and {why}: raise the limit to what it was, or begin a "
            "new run, in which more clients share them"
        )


def addresses_for(clients: int) -> int:
    """Give how many addresses so many clients need, each of which has a port of its own."""
    return max(1, -(-clients // PORTS))


def _most_files(wanted: int) -> int:
    """Give how many files may be open, if so many are wanted: privileged processes may raise their limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        return wanted
    most = min(wanted, int(Path("/proc/sys/fs/nr_open").read_text()))
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
    except (OSError, ValueError):
        return hard
    return most


def clients_of_a_rate(profile: str, part_s: float, seed: int) -> float:
    """Estimate, from a little traffic, how many clients ask in a part of synthetic traffic for each query a second."""
    rate_qps = SAMPLE_QUERIES / part_s
    return synthetic(profile, rate_qps, part_s, seed).client_count / rate_qps


def fitting_rate(clients_per_qps: float) -> int:
    """Give the highest rate whose clients have a socket each."""
    return whole_hundreds(most_clients()[0] / clients_per_qps)


def whole_hundreds(rate_qps: float) -> int:
    """Give a rate that is not higher, in whole hundreds if it has any, and not 0."""
    return max(1, int(rate_qps) // STEP_QPS * STEP_QPS or int(rate_qps))


def require_sockets(clients: float, rate: int, part_s: float, tolerance: float = 1.0) -> None:
    """Raise EnvironmentLacksError if more clients ask in a part of the traffic than can have a socket each.

    Args:
        clients: those of the part.
        rate: queries per second of the traffic.
        part_s: length of the part.
        tolerance: how many times too many they may be, where they are an estimate.

    """
    most, why = most_clients()
    if clients > most * tolerance:
        raise EnvironmentLacksError(
            f"--rate {rate:,}: about {clients:,.0f} clients ask within a part of {part_s:g} s, each from a socket of "
            f"its own, and {why}: take --rate {fitting_rate(clients / rate):,}, or shorter parts (--load-seconds), or "
            "raise the limit, or let clients share sockets (--shared-sockets)"
        )
