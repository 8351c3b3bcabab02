"""What a user may choose about a study, as it is stored in the run's manifest."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from dnsrig.errors import InputError

Answers = Literal["server", "full"]


SHORTEST_LOAD_S = 0.1
"""What a load may be at least, in seconds."""
ZSK_BITS = 1024
"""Of RSA zone-signing keys unless chosen otherwise: those of JPRS-2010, not those that zones should have today."""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What every study lets a user choose; with the seed it repeats the run.

    `servers` are the programs under test, whatever their kind.
    """

    servers: tuple[str, ...]
    seed: int
    repetitions: int = 5
    quick: bool = False

    def to_manifest(self) -> dict[str, Any]:
        """Give the settings as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> Self:
        """Read back what `to_manifest` wrote."""
        # JSON has no tuples.
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        try:
            return cls(**plain)
        except TypeError as error:
            raise InputError(
                f"the run's settings in manifest.json are damaged or of another version: {error}"
            ) from error

    @classmethod
    def setting_names(cls) -> frozenset[str]:
        """Name all settings."""
        return frozenset(field.name for field in fields(cls))


@dataclass(frozen=True, slots=True)
class LoadStudySettings(StudySettings):
    """What every study that sends loads lets a user choose. Times are in seconds."""

    load_s: float = 5.0
    warm_up_s: float = 1.0
    outstanding: int = 100
    clients: int = 8
    answers: Answers = "server"


@dataclass(frozen=True, slots=True)
class ZoneStudySettings(LoadStudySettings):
    """What the studies of signed and unsigned zones let a user choose.

    Sizes are in octets, key sizes in bits. `zone` and `queries` are paths of the user's files, or None for synthetic
    ones.
    """

    zone: str | None = None
    origin: str | None = None
    queries: str | None = None
    skip_bad: bool = False
    records: int = 244
    algorithm: str = "RSASHA256"
    ksk_bits: int | None = None
    zsk_bits: int | None = None
    """None: for RSA ZSK_BITS; other algorithms have one size."""
    denials: tuple[str, ...] = ("none", "nsec", "nsec3")
    iterations: tuple[int, ...] = (5,)
    salt: str = ""
    opt_out: bool = False
    streams: tuple[str, ...] = ("existence", "denial", "normal")
    denial_share: float = 0.08
    stream_queries: int = 500_000
    do_bit: bool = True
    edns_size: int = 4096
    transport: Literal["udp", "tcp"] = "udp"
    server_threads: int = 1
    raise_limits: bool = False
