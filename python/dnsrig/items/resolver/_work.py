"""How much a resolver computes: its CPU time, in operations whose cost on this machine is measured.

So what is said holds on a fast machine as on a slow one, and for a resolver that works in threads too.
"""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_costly import SALT_OCTETS

WARM_UP_S, ROUNDS, REPEATS = 0.05, 5, 40
SHA1_OCTETS = 20
RSA_BITS = 2048
CALM_WAIT_S, CALM_BEAT_S, CALM_BEATS, CALM_SHARE = 15.0, 0.25, 4, 0.02
"""Unbound works for ten seconds on what others asked for before; what it spends on that is not to be counted.

It does so with pauses, so that one beat without work says little.
"""


@dataclass(frozen=True, slots=True)
class Work:
    """What there is to be done for all costly questions of an item."""

    operations: int
    """How many there are, where none is left out."""
    called: str
    """Such as "hashes"."""
    operation_s: Callable[[], float]
    """Measures how much CPU time one takes on this machine, in seconds."""

    @property
    def all_s(self) -> float:
        """How much CPU time all take on this machine, in seconds."""
        return self.operations * self.operation_s()


def verification_s() -> float:
    """Measure an RSA verification by a key of 2048 bits, of a signature that is wrong."""
    return _least_s("verification", _verification())


@cache
def _verification() -> Callable[[], None]:
    key = RSAPublicNumbers(65_537, (1 << RSA_BITS) - 159).public_key()
    wrong = b"\x01" * (RSA_BITS // 8)

    def verify() -> None:
        try:
            key.verify(wrong, b"", PKCS1v15(), SHA256())
        except InvalidSignature:
            return
        raise AssertionError("a signature that nobody made is right")

    return verify


def hash_s() -> float:
    """Measure an iteration of NSEC3 with the longest salt (RFC 5155 section 5)."""
    octets = bytes(SHA1_OCTETS + SALT_OCTETS)
    return _least_s("hash", lambda: hashlib.sha1(octets, usedforsecurity=False).digest())


def gets_calm(subject: ResolverSubject) -> bool:
    """Wait until the resolver spends no CPU time to speak of; say whether that came, and can be seen."""
    ends_s, calm_beats = time.monotonic() + CALM_WAIT_S, 0
    while time.monotonic() < ends_s:
        before_s = subject.cpu_s()
        pause(CALM_BEAT_S)
        after_s = subject.cpu_s()
        if before_s is None or after_s is None:
            return False
        calm_beats = calm_beats + 1 if after_s - before_s <= CALM_SHARE * CALM_BEAT_S else 0
        if calm_beats == CALM_BEATS:
            return True
    return False


_least: dict[str, float] = {}
"""What operations took where least was in the way, in seconds, of all times that they were measured."""


def _least_s(called: str, operation: Callable[[], object]) -> float:
    """Give what an operation takes where nothing else is in the way, in seconds of this thread's CPU time.

    What shares a processor's core with it makes it half as fast for as long as it stays: so the least of all that was
    ever measured counts, and who compares it with what took long measures it once more.
    """
    # A processor that has rested takes a moment to its full speed.
    ends_s = time.thread_time() + WARM_UP_S
    while time.thread_time() < ends_s:
        operation()
    rounds = [_least[called]] if called in _least else []
    for _ in range(ROUNDS):
        began_s = time.thread_time()
        for _ in range(REPEATS):
            operation()
        rounds.append((time.thread_time() - began_s) / REPEATS)
    _least[called] = min(rounds)
    return _least[called]
