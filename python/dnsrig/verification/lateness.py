"""How late the rig itself was, so that what failed meanwhile is not laid on the target.

Resolvers ask again, or give up, when a server takes longer than some hundred milliseconds. Where the machine is busy,
that server may be the rig's: then a failure says nothing of the target. The runner asks here before it believes one.
"""

import asyncio
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

LATE_S = 0.25
"""Less is nothing to resolvers: what Unbound and BIND wait for a server that they do not know is longer."""
BEAT_S = 0.1
"""How often a loop looks whether it is late."""
MOST_KEPT = 10_000
SERVER = "The rig's own server"
MACHINE = "The rig itself"
"""What was late: its threads were not run in time."""
SO_TIMESTAMPNS = 35
SO_RXQ_OVFL = 40
SO_RCVBUFFORCE = 33
"""Of Linux (socket(7)); Python's socket has no names for them."""
QUEUE_OCTETS = 4 << 20
"""A server's queue: a burst is to wait there rather than to be lost."""
TIMESPEC = struct.Struct("@qq")
COUNT = struct.Struct("@I")
ANCILLARY_OCTETS = socket.CMSG_SPACE(TIMESPEC.size) + socket.CMSG_SPACE(COUNT.size)


@dataclass(frozen=True, slots=True)
class Late:
    """A time in which the rig did not do at once what it was to do; on the clock of its `Lateness`."""

    who: str
    """As the beginning of a sentence."""
    began_s: float
    ended_s: float
    lost: int = 0
    """Queries that did not fit into a server's queue."""

    @property
    def late_s(self) -> float:
        """How long it took."""
        return self.ended_s - self.began_s

    @property
    def sentence(self) -> str:
        """What happened, for a reader who wonders about a verdict."""
        if self.lost:
            return f"{self.who} lost {self.lost} {'query' if self.lost == 1 else 'queries'}: the machine is busy."
        verb = "answered" if self.who == SERVER else "was"
        return f"{self.who} {verb} {self.late_s:.1f} s late: the machine is busy."


@dataclass
class Lateness:
    """When the rig was late; used by several threads."""

    clock: Callable[[], float] = time.monotonic
    _due: dict[object, tuple[str, float]] = field(default_factory=dict, repr=False)
    """When loops are to look next."""
    _late: deque[Late] = field(default_factory=lambda: deque(maxlen=MOST_KEPT), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self, who: str, late_s: float, lost: int = 0) -> None:
        """Say that something was done now, `late_s` after it was to be; what is less than LATE_S is not kept."""
        if late_s < LATE_S and not lost:
            return
        now_s = self.clock()
        self.keep(Late(who, now_s - max(late_s, 0.0), now_s, lost))

    def keep(self, late: Late) -> None:
        """Keep what another noted, on the same clock."""
        with self._lock:
            self._late.append(late)

    def since(self, began_s: float) -> Late | None:
        """Give the worst of what went on after a time; None where all was done in time."""
        return max(self.all_since(began_s), key=lambda one: (one.late_s, one.lost), default=None)

    def all_since(self, began_s: float) -> list[Late]:
        """Give all of what went on after a time."""
        now_s = self.clock()
        with self._lock:
            found = [one for one in self._late if one.ended_s >= began_s]
            # What is held up now has not noted it yet.
            found += [Late(who, due_s, now_s) for who, due_s in self._due.values() if now_s - due_s >= LATE_S]
        return found

    async def watch(self, who: str = SERVER) -> None:
        """Note, until it is ended, when the loop that runs this is late."""
        watcher = object()
        try:
            while True:
                due_s = self.clock() + BEAT_S
                with self._lock:
                    self._due[watcher] = who, due_s
                await asyncio.sleep(BEAT_S)
                self.note(who, self.clock() - due_s)
        finally:
            with self._lock:
                self._due.pop(watcher, None)


class ArrivalSocket(socket.socket):
    """A datagram socket that says when the kernel got what was read last, and what it had no room for."""

    def __init__(self, channel: socket.socket, lateness: Lateness) -> None:
        """Take over a socket, which is closed; asyncio reads this one by `recvfrom`."""
        # The family is given: in a namespace of its own the descriptor says the same, and this asks nobody.
        super().__init__(channel.family, channel.type, channel.proto, fileno=channel.detach())
        self._lateness = lateness
        self._arrived_s: float | None = None
        self._lost = 0
        self.setblocking(False)
        for option, value in ((SO_TIMESTAMPNS, 1), (SO_RXQ_OVFL, 1), (SO_RCVBUFFORCE, QUEUE_OCTETS)):
            try:
                self.setsockopt(socket.SOL_SOCKET, option, value)
            except OSError:
                # A kernel or a user that may not: then less is known, or the queue is as it was.
                continue

    def recvfrom(self, *sizes: int) -> tuple[bytes, Any]:
        """Read a datagram, as its base class does."""
        message, ancillary, _, source = self.recvmsg(sizes[0], ANCILLARY_OCTETS)
        self._arrived_s = None
        for _, kind, octets in ancillary:
            if kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = TIMESPEC.unpack(octets)
                self._arrived_s = seconds + nanoseconds / 1e9
            elif kind == SO_RXQ_OVFL:
                (lost,) = COUNT.unpack(octets)
                if lost > self._lost:
                    self._lateness.note(SERVER, 0.0, lost - self._lost)
                self._lost = lost
        return message, source

    def note_done(self) -> None:
        """Say that what was read last has been answered."""
        if self._arrived_s is not None:
            self._lateness.note(SERVER, time.time() - self._arrived_s)
