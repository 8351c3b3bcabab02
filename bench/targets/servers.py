"""The servers that loads run against: the bare echo, and real ones by dnsrig's drivers."""

import random
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dnsrig.servers.base import Server
from dnsrig.servers.certificates import make_certificate
from dnsrig.servers.registry import driver
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.servers.transports import EncryptedTransport

from targets.generators import Bench
from targets.running import BenchError, pinned, running

NAMES = 2000
ORIGIN = "example"


def write_inputs(bench: Bench) -> None:
    """Write the zone of `NAMES` addresses and the queries for them.

    The queries are in random order, since equal lengths side by side would suit the segmentation offload that dnsrig
    uses over UDP.
    """
    head = ["$TTL 3600", "@ SOA ns hostmaster 1 3600 900 604800 300", "@ NS ns", "ns A 127.0.0.1"]
    records = [f"host{number} A 192.0.2.{number % 256}" for number in range(NAMES)]
    (bench.folder / "example.zone").write_text("\n".join([*head, *records, ""]))
    queries = [f"host{number}.{ORIGIN}. A\n" for number in range(NAMES)]
    random.Random(NAMES).shuffle(queries)
    bench.queries.write_text("".join(queries))
    bench.one_query.write_text(queries[0])


@contextmanager
def echo(bench: Bench, *, offload: bool = True) -> Iterator[int]:
    """Run the bare UDP echo on the server's CPU; give its port. Without `offload` each answer is a send of its own."""
    argv = pinned([*bench.dnsrig, "sink", "--port", "0"], bench.server_cpu)
    argv += [] if offload else ["--no-offload"]
    with running(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = line.strip().rpartition(" ")[2]
        if not port.isdigit():
            raise BenchError(f"{' '.join(argv)} did not say its port but: {line!r}")
        yield int(port)


@contextmanager
def serving(bench: Bench, name: str, encrypted: Iterable[EncryptedTransport] = ()) -> Iterator[Server]:
    """Run a server with one worker on the server's CPU, rate limiting off."""
    transports = frozenset(encrypted)
    settings = ServerSettings(
        cpus=frozenset({bench.server_cpu}),
        encrypted=transports,
        certificate=make_certificate(bench.folder) if transports else None,
    )
    zone = ServedZone(ORIGIN, bench.folder / "example.zone")
    with driver(name)([zone], settings, bench.folder / name) as server:
        yield server


def title(server: Server) -> str:
    """Name a server with its version for readers."""
    return f"{server.title} {server.version}"
