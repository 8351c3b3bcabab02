"""Where a resolver is measured: clients - resolver - simulated Internet, a network namespace each."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from dnsrig import _core
from dnsrig.errors import DnsrigError, EnvironmentLacksError
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network.links import End, device_index, hardware_address, link
from dnsrig.hosts.network.topologies import CLIENT, INNER, AddressPair
from dnsrig.internet import DNS_PORT, internet_namespace
from dnsrig.studies.resolving.sockets import CLIENT_PORTS

CLIENTS_DEVICE = "clients"
INTERNET_DEVICE = "internet"
OUTSIDE_DEVICE = "resolvers"
"""The Internet's end of its link to the resolver."""
RESOLVER_OUTSIDE = AddressPair("192.168.54.1", "fd53:3::1")
"""The resolver on its link to the Internet."""
INTERNET_INSIDE = AddressPair("192.168.54.2", "fd53:3::2")
"""The other end of that link; the Internet's own prefixes are behind it."""
THREADS = ("internet-udp", "internet-tcp")
"""Names of the threads that answer, as the kernel has them."""
SETTLED_S = 0.12
"""The Internet's threads hand their accounts on every 50 ms; what has not changed for this long is complete."""
SETTLE_DEADLINE_S = 3.0
POLL_S = 0.03

MOST_OPERATORS = 30
"""Of whom a measurement has counts of their own."""
OTHER_OPERATORS = "all others"
OPERATOR_COUNTS = ("queries", "query_octets", "answer_octets")

Account = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """What an Internet has done since its start."""

    accounts: tuple[Account, ...]
    cpu_ns: int
    state: Mapping[str, int]

    def since(self, before: "Reading") -> dict[str, Any]:
        """Give, as a measurement holds it, what was asked of it and answered since an earlier reading."""
        sums, earlier = _sums(self.accounts), _sums(before.accounts)
        used = {key: value - earlier[key] for key, value in sums.items()}
        types = {key.removeprefix("type "): count for key, count in used.items() if key.startswith("type ") and count}
        return {
            **{key: used.get(key, 0) for key in ("queries", "answers", "tcp_queries", "truncated")},
            **{key: used.get(key, 0) for key in ("query_octets", "answer_octets")},
            "by_operator": _by_operator(self.accounts, before.accounts),
            "answer_sizes": {
                key.removeprefix("size "): count for key, count in used.items() if key.startswith("size ")
            },
            "by_type": dict(sorted(types.items(), key=lambda entry: (-entry[1], entry[0]))),
            "cpu_us": (self.cpu_ns - before.cpu_ns) / 1000,
            **{key: self.state.get(key, 0) - before.state.get(key, 0) for key in ("signatures", "zones", "dropped")},
        }


@dataclass(frozen=True, slots=True)
class Place:
    """The three namespaces, and the Internet that is served in one of them."""

    internet: _core.Internet
    server: _core.InternetServer
    clients: Namespace
    resolver: Namespace
    outside: Namespace
    client_addresses: tuple[str, ...] = (CLIENT.ipv4,)
    """Of IPv4, on the clients' end of their link."""

    @property
    def address(self) -> str:
        """The resolver's address on the clients' link."""
        return INNER.ipv4

    def check_running(self) -> None:
        """Raise EnvironmentLacksError, with the reason where one is known, if the Internet has ended."""
        if self.server.running:
            return
        try:
            self.server.stop()
        except DnsrigError as error:
            raise EnvironmentLacksError(f"the simulated Internet has ended: {error}") from error
        raise EnvironmentLacksError("the simulated Internet has ended")

    def reading(self) -> Reading:
        """Read the accounts once they do not change any more, and what CPU time was spent on them.

        Raises:
            EnvironmentLacksError: the Internet has broken off; the message says why.

        """
        self.check_running()
        deadline = time.monotonic() + SETTLE_DEADLINE_S
        accounts, since = self.server.accounts(), time.monotonic()
        while time.monotonic() < min(since + SETTLED_S, deadline):
            time.sleep(POLL_S)
            now = self.server.accounts()
            if now != accounts:
                accounts, since = now, time.monotonic()
        return Reading(tuple(accounts), internet_cpu_ns(), self.server.state())

    def upstream_queries(self) -> int:
        """Count the queries that it was asked, as far as they are accounted for."""
        return self.server.queries()


@contextmanager
def place_of(
    internet: _core.Internet, threads: int = 1, client_addresses: int = 1, *, whole_packets: bool = True
) -> Iterator[Place]:
    """Serve an Internet in a namespace of its own, linked to one for a resolver, and that to one for clients.

    The threads that answer run where the calling thread may run. Clients have so many addresses of IPv4. Answers leave
    as whole packets, if that is wanted and permitted, or else the system sends them.

    Raises:
        EnvironmentLacksError: namespaces cannot be made, or `ip` is not installed.

    """
    prefixes = internet.summary()["prefixes"]
    with ExitStack() as stack:
        outside = stack.enter_context(internet_namespace(prefixes))
        resolver, clients = (stack.enter_context(Namespace(role)) for role in ("resolver", "clients"))
        ipv6 = resolver.has_ipv6
        near = End(resolver, INTERNET_DEVICE, RESOLVER_OUTSIDE.with_prefix(ipv6=ipv6))
        far = End(outside, OUTSIDE_DEVICE, INTERNET_INSIDE.with_prefix(ipv6=ipv6))
        link(near, far)
        link(
            End(clients, "resolver", CLIENT.with_prefix(ipv6=ipv6)),
            End(resolver, CLIENTS_DEVICE, INNER.with_prefix(ipv6=ipv6)),
        )
        more = more_clients(client_addresses - 1)
        clients.add_addresses([f"{address}/{CLIENT.ipv4_prefix}" for address in more], "resolver")
        # More clients than the usual ports suffice for have a socket each; where that may not be set, loads say so.
        with suppress(EnvironmentLacksError):
            clients.set_kernel("net/ipv4/ip_local_port_range", " ".join(map(str, CLIENT_PORTS)))
            # Who asks again over TCP what was truncated closes the connection: its port is to be had after a second.
            clients.set_kernel("net/ipv4/tcp_tw_reuse", "1")
        for prefix in prefixes:
            if ipv6 or ":" not in prefix:
                resolver.add_route(prefix, INTERNET_INSIDE.ipv6 if ":" in prefix else INTERNET_INSIDE.ipv4)
        # Beside the load generator, whose queries have to leave at their times, while a zone may take milliseconds.
        start: Callable[[], _core.InternetServer] = partial(
            _core.InternetServer,
            internet,
            port=DNS_PORT,
            threads=threads,
            gives_way=True,
            link=(device_index(far), hardware_address(near)) if whole_packets else None,
        )
        server = outside.call(start, discard=_core.InternetServer.stop)
        stack.callback(server.stop)
        server.hold_outages()
        yield Place(internet, server, clients, resolver, outside, (CLIENT.ipv4, *more))


def more_clients(count: int) -> list[str]:
    """List so many addresses of IPv4 that follow the clients' first one; their link has room for 253 in all."""
    first = ip_address(CLIENT.ipv4)
    return [str(first + number) for number in range(1, count + 1)]


def internet_cpu_ns() -> int:
    """Give the CPU time in ns of all threads of this process that answer for an Internet (proc(5), schedstat)."""
    total = 0
    for task in answering_tasks():
        # It has ended meanwhile, or the kernel keeps no such account.
        with suppress(OSError, IndexError):
            total += int((task / "schedstat").read_text().split()[0])
    return total


def answering_tasks() -> Iterator[Path]:
    """Give the folder in /proc of each thread of this process that answers for an Internet; it may end meanwhile."""
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            if (task / "comm").read_text().strip() in THREADS:
                yield task


def _by_operator(accounts: tuple[Account, ...], before: tuple[Account, ...]) -> dict[str, dict[str, int]]:
    """Give queries and octets of the operators that were asked most, and of all others together."""
    sums: dict[str, Counter[str]] = {}
    for rows, sign in ((accounts, 1), (before, -1)):
        for row in rows:
            counts = sums.setdefault(row["operator"], Counter())
            for key in OPERATOR_COUNTS:
                counts[key] += sign * row[key]
            counts["tcp_queries"] += sign * (row["queries"] if row["transport"] == "tcp" else 0)
    most_first = sorted(sums.items(), key=lambda entry: (-entry[1]["queries"], entry[0]))
    asked = [(operator, counts) for operator, counts in most_first if counts["queries"]]
    found = dict(asked[:MOST_OPERATORS])
    if len(asked) > MOST_OPERATORS:
        found[OTHER_OPERATORS] = sum((counts for _, counts in asked[MOST_OPERATORS:]), Counter())
    keys = (*OPERATOR_COUNTS, "tcp_queries")
    return {operator: {key: counts[key] for key in keys} for operator, counts in found.items()}


def _sums(accounts: tuple[Account, ...]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for row in accounts:
        for key in ("queries", "answers", "query_octets", "answer_octets", "truncated"):
            sums[key] += row[key]
        sums[f"type {row['type']}"] += row["queries"]
        for bound, count in row["answer_sizes"].items():
            sums[f"size {bound}"] += count
        if row["transport"] == "tcp":
            sums["tcp_queries"] += row["queries"]
    return sums
