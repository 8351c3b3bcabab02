"""The cases of encrypted-cost: what is sent to a server, alone or beside something else."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dnsrig.servers.transports import LABELS, EncryptedTransport, in_order
from dnsrig.studies.encrypted.settings import NEEDS_DOT, EncryptedSettings, Part

UDP, TCP, TCP_NEW = "udp", "tcp", "tcp-new"
ATTEMPTS_ALONE = "abandoned"
ABANDONED_AFTER_S = 0.1
"""How long a connection attempt is left open before it is abandoned."""
RESUMED_LENGTH = 3
"""So many times as long as others are loads of resumed sessions: the first session of each client is a full one."""
ATTEMPTS_AT_ONCE = 1000
"""Connections of attempts that may be open at once: ample for ABANDONED_AFTER_S."""
REFUSED, ABANDONED = "refused", "abandoned"


def new(transport: str) -> str:
    """Name the case of a transport with a new session for each query."""
    return f"{transport}-new"


def resumed(transport: str) -> str:
    """Name the case of a transport with a resumed session for each query."""
    return f"{transport}-resumed"


def reused(transport: str) -> str:
    """Name the case of a transport with many queries a session; TCP's sessions have no limit."""
    return TCP if transport == TCP else f"{transport}-reused"


def beside_dot(in_flight: int) -> str:
    """Name the case of UDP beside so many DoT queries in flight."""
    return f"udp+dot-{in_flight}"


def beside_attempts(how: str) -> str:
    """Name the case of UDP beside attempts that are `refused` or `abandoned`."""
    return f"udp+{how}"


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one load sends.

    With `attempts_per_s` it opens connections to the DoT port instead of sending queries: abandoned ones, or
    `refused` ones to a port where nothing listens.
    """

    transport: str
    clients: int
    outstanding: int = 0
    queries_per_session: int | None = None
    resumption: bool = False
    length: int = 1
    """How many times as long as other loads it is."""
    attempts_per_s: float | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """Traffic whose rate is looked for, and what goes on beside it."""

    kind: str
    part: Part
    main: Traffic
    beside: Traffic | None = None

    @property
    def opens_sessions(self) -> bool:
        """Whether what the server does is mostly to open sessions."""
        return self.beside is None and (self.main.queries_per_session == 1 or self.main.attempts_per_s is not None)

    @property
    def axes(self) -> dict[str, Any]:
        """What a measurement records of the case."""
        return {
            "part": self.part,
            "kind": self.kind,
            "transport": self.main.transport,
            "queries_per_session": self.main.queries_per_session,
        }


def kind_labels(settings: EncryptedSettings) -> Mapping[str, str]:
    """Give the words for each kind of case, in the order of the tables."""
    many = f"{settings.queries_per_session:,} queries a session"
    rate = f"{settings.attempts_per_s:,.0f}"
    labels = {UDP: "UDP", TCP: "TCP, sessions kept", TCP_NEW: "TCP, new session a query"}
    for transport in in_order(frozenset(("dot", "doh", "doq"))):
        labels[reused(transport)] = f"{LABELS[transport]}, {many}"
        labels[resumed(transport)] = f"{LABELS[transport]}, resumed session a query"
        labels[new(transport)] = f"{LABELS[transport]}, new session a query"
    for step in settings.steps:
        labels[beside_dot(step)] = f"UDP beside DoT, {step:,} in flight"
    labels[beside_attempts(REFUSED)] = f"UDP beside {rate} refused attempts a second"
    labels[beside_attempts(ABANDONED)] = f"UDP beside {rate} abandoned attempts a second"
    labels[ATTEMPTS_ALONE] = f"{rate} abandoned attempts a second alone"
    return labels


def all_cases(settings: EncryptedSettings, encrypted: frozenset[EncryptedTransport]) -> list[Case]:
    """List the cases of a server with these encrypted transports: first certificate, first number of threads."""
    found: list[Case] = []
    transports = [name for name in settings.transports if name in {UDP, TCP} or name in encrypted]
    if "transports" in settings.parts:
        for transport in transports:
            found.extend(_alone(settings, transport))
    if "dot" not in transports:
        return found
    if not any(case.kind == UDP for case in found) and NEEDS_DOT & set(settings.parts):
        found.extend(_alone(settings, UDP))
    if "together" in settings.parts:
        found.extend(
            Case(beside_dot(step), "together", _udp(settings), _dot(settings, step)) for step in settings.steps
        )
    if "attempts" in settings.parts:
        found.extend(
            Case(beside_attempts(how), "attempts", _udp(settings), _attempts(settings, how))
            for how in (REFUSED, ABANDONED)
        )
        found.append(Case(ATTEMPTS_ALONE, "attempts", _attempts(settings, ABANDONED)))
    return found


def certificate_cases(settings: EncryptedSettings, encrypted: frozenset[EncryptedTransport]) -> list[Case]:
    """List the cases of a further certificate: a new session a query, where its key is used each time."""
    if "transports" not in settings.parts:
        return []
    kinds = {new(transport) for transport in encrypted}
    return [case for case in all_cases(settings, encrypted) if case.kind in kinds]


def thread_cases(settings: EncryptedSettings, encrypted: frozenset[EncryptedTransport]) -> list[Case]:
    """List the cases of a further number of threads: each transport alone, without resumption."""
    left_out = {resumed(transport) for transport in encrypted}
    cases = all_cases(settings, encrypted)
    return [case for case in cases if case.part == "transports" and case.kind not in left_out]


def _alone(settings: EncryptedSettings, transport: str) -> Iterator[Case]:
    if transport == UDP:
        yield Case(UDP, "transports", _udp(settings))
        return
    many = None if transport == TCP else settings.queries_per_session
    kept = Traffic(transport, settings.sockets, settings.in_flight, many)
    yield Case(reused(transport), "transports", kept)
    once = Traffic(transport, settings.sessions, settings.sessions, queries_per_session=1)
    if transport != TCP:
        yield Case(resumed(transport), "transports", replace(once, resumption=True, length=RESUMED_LENGTH))
    yield Case(new(transport), "transports", once)


def _udp(settings: EncryptedSettings) -> Traffic:
    return Traffic(UDP, settings.sockets, settings.in_flight)


def _dot(settings: EncryptedSettings, in_flight: int) -> Traffic:
    return Traffic("dot", min(settings.sockets, in_flight), in_flight, settings.queries_per_session)


def _attempts(settings: EncryptedSettings, how: str) -> Traffic:
    return Traffic(TCP, ATTEMPTS_AT_ONCE, attempts_per_s=settings.attempts_per_s, refused=how == REFUSED)
