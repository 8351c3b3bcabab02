"""What a user may choose about the study encrypted-cost."""

import os
from dataclasses import dataclass, field
from typing import Literal, get_args

from dnsrig.errors import InputError
from dnsrig.loads import TRANSPORTS
from dnsrig.servers.certificates import CertificateKey
from dnsrig.studies.settings import LoadStudySettings

Part = Literal["transports", "together", "attempts"]
PARTS: tuple[Part, ...] = get_args(Part)
"""transports: each alone; together: UDP while DoT rises; attempts: UDP beside connections that come to nothing."""
CERTIFICATES: tuple[CertificateKey, ...] = get_args(CertificateKey)
NEEDS_DOT: frozenset[Part] = frozenset(("together", "attempts"))
SOCKETS_A_THREAD = 16
"""Flows that each of several server threads needs at least, since the kernel spreads them by lot (SO_REUSEPORT)."""


def usual_threads() -> tuple[int, ...]:
    """Give the numbers of server threads to measure: powers of two that leave the generator a processor."""
    room = max(1, len(os.sched_getaffinity(0)) - 1)
    return tuple(2**power for power in range(room.bit_length()))


@dataclass(frozen=True, slots=True)
class EncryptedSettings(LoadStudySettings):
    """What the study of encrypted transports lets a user choose."""

    transports: tuple[str, ...] = TRANSPORTS
    parts: tuple[Part, ...] = PARTS
    certificates: tuple[CertificateKey, ...] = CERTIFICATES
    """Keys of the servers' certificates; all cases have the first one, the others only what opens sessions."""
    threads: tuple[int, ...] = field(default_factory=usual_threads)
    """Numbers of server threads; all cases have the first one."""
    queries_per_session: int = 2000
    """Queries that a session carries where it is used again."""
    sessions: int = 256
    """Sessions open at once where each carries one query.

    Servers hold an answer back for some 40 ms until their tickets are acknowledged (Nagle's algorithm, RFC 896), so
    that n sessions carry n / 40 ms queries a second at most: 64 only 1,600, 256 some 6,400, more than one core's
    handshakes. With 512 at once the queues of 256 connections in which NSD and Unbound listen run over.
    """
    steps: tuple[int, ...] = (1, 8, 64, 512, 4096)
    """DoT queries in flight beside UDP."""
    attempts_per_s: float = 1800.0
    """Connections opened per second that come to nothing."""

    @property
    def sockets(self) -> int:
        """Sockets and kept sessions: the same for all numbers of threads, and enough for the largest."""
        most = max(self.threads)
        return self.clients if most == 1 else max(self.clients, SOCKETS_A_THREAD * most)

    @property
    def in_flight(self) -> int:
        """Queries in flight over them: for each thread as many as are asked for."""
        return self.outstanding * max(self.threads)

    def check(self) -> None:
        """Refuse what could not be measured on any server.

        Raises:
            InputError: there are not processors enough, or the parts that are asked for need DoT.

        """
        processors = len(os.sched_getaffinity(0))
        room = max(1, processors - 1)
        if max(self.threads) > room:
            raise InputError(
                f"--threads {max(self.threads)}: dnsrig may use {processors} processors here and the generator needs "
                f"one, which leaves {room} for the server"
            )
        if "dot" not in self.transports and NEEDS_DOT.issuperset(self.parts):
            raise InputError(f"--part {','.join(self.parts)} needs DoT: name dot in --transport")
