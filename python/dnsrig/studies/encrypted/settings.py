"""What a user may choose about the study encrypted-cost."""

import os
from dataclasses import dataclass, field
from typing import Literal, get_args

from dnsrig.loads import TRANSPORTS
from dnsrig.servers.certificates import CertificateKey
from dnsrig.studies.settings import StudySettings

Part = Literal["transports", "together", "attempts"]
PARTS: tuple[Part, ...] = get_args(Part)
"""transports: each alone; together: UDP while DoT rises; attempts: UDP beside connections that come to nothing."""
CERTIFICATES: tuple[CertificateKey, ...] = get_args(CertificateKey)


def usual_threads() -> tuple[int, ...]:
    """Give the numbers of server threads to measure: powers of two that leave the generator a processor."""
    room = max(1, len(os.sched_getaffinity(0)) - 1)
    return tuple(2**power for power in range(room.bit_length()))


@dataclass(frozen=True, slots=True)
class EncryptedSettings(StudySettings):
    """What the study of encrypted transports lets a user choose."""

    transports: tuple[str, ...] = TRANSPORTS
    parts: tuple[Part, ...] = PARTS
    certificates: tuple[CertificateKey, ...] = CERTIFICATES
    """Keys of the servers' certificates; all cases have the first one, the others only what opens sessions."""
    threads: tuple[int, ...] = field(default_factory=usual_threads)
    """Numbers of server threads; all cases have the first one."""
    queries_per_session: int = 2000
    """Queries that a session carries where it is used again."""
    sessions: int = 64
    """Sessions open at once where each carries one query: as many as hide what servers wait for, such as late ACKs."""
    steps: tuple[int, ...] = (1, 4, 16, 64)
    """DoT queries in flight beside UDP."""
    attempts_per_s: float = 1800.0
    """Connections opened per second that come to nothing."""
