"""Wait until a server serves what it should, and say clearly what went wrong if it does not."""

import functools
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from dnsrig.errors import DnsrigError, EnvironmentLacksError, SubjectFailedError
from dnsrig.hosts.local import LocalProcess, read_tail
from dnsrig.servers import ports
from dnsrig.servers.encrypted_readiness import ask_soa_doh, ask_soa_dot, quic_answers
from dnsrig.servers.readiness import SoaAnswer, ask_soa
from dnsrig.servers.transports import LABELS

POLL_INTERVAL_S = 0.02
LOG_WINDOW_BYTES = 1 << 20
"""How much of the log's end is searched at each poll."""
KNOWN_TAKEN_DEADLINE_S = 5.0
"""How long a server gets to say itself that it cannot have a port that is known to be taken."""
OTHERS_DEADLINE_S = 1.0
"""How long sockets on the port that are not the server's must stay to be another process's."""
ASK: Mapping[str, Callable[[str, int, str], SoaAnswer]] = {
    "udp": functools.partial(ask_soa, tcp=False),
    "tcp": functools.partial(ask_soa, tcp=True),
    "dot": ask_soa_dot,
    "doh": ask_soa_doh,
}
"""How each transport is asked for the SOA record of a zone, given address, port and the zone's name."""
ASK_RESOLVER: Mapping[str, Callable[[str, int, str], SoaAnswer]] = {
    "udp": functools.partial(ask_soa, tcp=False, recursive=True),
    "tcp": functools.partial(ask_soa, tcp=True, recursive=True),
}
"""The same of a resolver or proxy."""


class PortRefusedError(EnvironmentLacksError):
    """The server could not have its port."""


@dataclass(frozen=True, slots=True)
class LogSigns:
    """What a server writes to its log, as patterns that are searched for in each line."""

    port_refused: re.Pattern[str]
    """It could not bind a socket."""
    zone_refused: re.Pattern[str]
    """It does not serve a zone, or not as it should."""
    complaint: re.Pattern[str]
    """Worth showing when it failed."""


@dataclass(frozen=True, slots=True)
class Watch:
    """One server process that is being waited for."""

    process: LocalProcess
    title: str
    """Name and version of the server, for error messages."""
    endpoints: Mapping[str, tuple[str, int]]
    """Address and port of each transport; UDP and TCP share theirs."""
    signs: LogSigns
    log_start: int
    """Offset in the log, in bytes, at which the part that concerns this wait begins."""
    ask: Mapping[str, Callable[[str, int, str], SoaAnswer]] = field(default_factory=lambda: ASK)

    def wait_serving(
        self,
        origins: Iterable[str],
        expected: Callable[[str, SoaAnswer], bool],
        *,
        deadline_s: float,
        agreeing: int = 1,
    ) -> None:
        """Poll until every zone's SOA is answered as expected over each transport, by the process itself.

        Over QUIC it is enough that the server speaks it.

        Args:
            origins: the zones' names.
            expected: judges the answer for a zone.
            deadline_s: how long that may take.
            agreeing: how many answers in a row, each to a socket of its own, every zone needs over UDP:
                servers with several workers may change over one by one.

        Raises:
            PortRefusedError: the port is taken or forbidden.
            SubjectFailedError: the process ended, refused a zone, or did not serve in time.

        """
        deadline = time.monotonic() + deadline_s
        waiting = [
            (transport, origin) for transport in self.endpoints for origin in (origins if transport != "doq" else [""])
        ]
        while waiting:
            self._look_for_trouble()
            transport, origin = waiting[0]
            said = self._unexpected(transport, origin, expected, agreeing if transport == "udp" else 1)
            if said is None:
                waiting.pop(0)
                continue
            if time.monotonic() > deadline:
                what = f"the zone {origin}" if origin else "a connection"
                raise SubjectFailedError(
                    self.failure(
                        f"it did not serve {what} within {deadline_s:.0f} s; "
                        f"the last poll over {LABELS[transport]} got: {said}"
                    )
                )
            time.sleep(POLL_INTERVAL_S)
        self._check_owner()
        self._look_for_trouble()

    def wait_until(self, holds: Callable[[], bool], what: str, *, deadline_s: float) -> None:
        """Poll until something holds, such as "it takes commands".

        Raises:
            PortRefusedError, SubjectFailedError: as `wait_serving` does.

        """
        deadline = time.monotonic() + deadline_s
        while True:
            self._look_for_trouble()
            if holds():
                return
            if time.monotonic() > deadline:
                raise SubjectFailedError(self.failure(f"it was not so within {deadline_s:.0f} s that {what}"))
            time.sleep(POLL_INTERVAL_S)

    def _unexpected(
        self, transport: str, origin: str, expected: Callable[[str, SoaAnswer], bool], agreeing: int
    ) -> str | None:
        """Ask `agreeing` times in a row; give the first answer that is not as expected, in words."""
        address, port = self.endpoints[transport]
        if transport == "doq":
            return None if quic_answers(address, port) else "no QUIC packet"
        for _ in range(agreeing):
            answer = self.ask[transport](address, port, origin)
            if not expected(origin, answer):
                return answer.said
        return None

    def refuse_port(self, state: ports.PortState) -> NoReturn:
        """Wait for the server to say itself that it cannot have a port known to be taken or forbidden.

        Raises:
            PortRefusedError: always.

        """
        deadline = time.monotonic() + KNOWN_TAKEN_DEADLINE_S
        while time.monotonic() < deadline and self.process.alive():
            if self.signs.port_refused.search(self._log()):
                break
            time.sleep(POLL_INTERVAL_S)
        own = self.process.pids()
        raise self._port_error(port_reason(*self.endpoints["udp"], state, own))

    def failure(self, reason: str) -> str:
        """Compose an error message: reason, the server's own lines, its command and the end of its log."""
        own = [line for line in self._log().splitlines() if self.signs.complaint.search(line)]
        parts = [f"{self.title}: {reason}"]
        if own:
            parts += ["the server said:", *(f"  {line}" for line in own[-8:])]
        parts += [
            f"command: {' '.join(self.process.argv)}",
            f"log: {self.process.log}, which ends:",
            *(f"  {line}" for line in self._log().splitlines()[-15:]),
        ]
        return "\n".join(parts)

    def _log(self) -> str:
        return read_tail(self.process.log, self.log_start, LOG_WINDOW_BYTES)

    def _look_for_trouble(self) -> None:
        log = self._log()
        alive = self.process.alive()
        if self.signs.port_refused.search(log):
            raise self._port_error(f"it could not listen on {self._listed()}")
        if self.signs.zone_refused.search(log):
            raise SubjectFailedError(self.failure("it refused a zone"))
        if not alive:
            raise SubjectFailedError(self.failure(f"it ended {_manner(self.process.returncode)}"))

    def _port_error(self, reason: str) -> PortRefusedError:
        return PortRefusedError(self.failure(reason))

    def _check_owner(self) -> None:
        """Make sure that no other process shares the port: it would get a part of the queries.

        A server that dies meanwhile has sockets on the port and owns none, so only what stays is another's.
        """
        for address, port in dict.fromkeys(self.endpoints.values()):
            deadline = time.monotonic() + OTHERS_DEADLINE_S
            while ports.sockets_on(address, port) - ports.sockets_of(self.process.pids()):
                self._look_for_trouble()
                if time.monotonic() > deadline:
                    raise self._port_error(f"another process listens on {address} port {port} as well (SO_REUSEPORT)")
                time.sleep(POLL_INTERVAL_S)

    def _listed(self) -> str:
        """Name the ports, such as "127.0.0.1 port 5300 (UDP), 5300 (TCP), 5301 (DoT)"."""
        address = self.endpoints["udp"][0]
        listed = ", ".join(f"{port} ({LABELS[transport]})" for transport, (_, port) in self.endpoints.items())
        return f"{address} port {listed}"


def port_reason(address: str, port: int, state: ports.PortState, own: Collection[int] = ()) -> str:
    """Say in words why a server, which has the processes `own`, cannot have a port, and what to do."""
    where = f"port {port} of {address}"
    if state is ports.PortState.FORBIDDEN:
        return f"{where} is not permitted to this user: use a port of 1024 or more, or run as root"
    if state is ports.PortState.NO_ADDRESS:
        return f"{where} cannot be bound: the address is not on this machine"
    other = ports.holder(address, port, own)
    by = f" by {other}" if other else ""
    return f"{where} is taken{by}: use another port, or 0 for a free one"


def _manner(returncode: int | None) -> str:
    if returncode is None:
        return "unexpectedly"
    if returncode < 0:
        return f"by signal {-returncode}"
    return f"with exit status {returncode}"


def retry_port(attempts: int, attempt: Callable[[], None]) -> None:
    """Run `attempt` until it gets its port, at most `attempts` times; the last failure is raised."""
    for left in reversed(range(attempts)):
        try:
            return attempt()
        except PortRefusedError:
            if not left:
                raise
    return None


def command_failure(title: str, argv: Sequence[str], said: str) -> DnsrigError:
    """Compose the error for a helper program of a server that failed."""
    lines = "\n".join(f"  {line}" for line in said.strip().splitlines()[-15:])
    return SubjectFailedError(f"{title}: {' '.join(argv)} failed; it said:\n{lines}")
