"""What is measured of a resolver: cases, and the blocks that a bench makes of them."""

from dataclasses import dataclass
from typing import Any

TREE = "as the profile says"
"""The Internet of the profile, unchanged."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """A load on a resolver: the queries of a stream, and when they are sent."""

    stream: str
    """Name of the stream among the inputs."""
    rate_qps: float | None = None
    """Evenly spaced queries; None: a closed loop."""
    replays: bool = False
    """Every client of the stream sends its own queries at its own times."""
    load_s: float = 5.0
    """How long it lasts at most; infinity: until what else ends it."""
    is_once: bool = False
    """Whether it ends, if it has not before, with the stream's last query."""
    outstanding: int | None = None
    """How many queries a closed loop has under way; None: as many as are chosen for the study's."""
    transport: str = "udp"
    """One transport, or several by shares (`transports.read_mix`)."""

    @property
    def is_closed_loop(self) -> bool:
        """Whether a query is sent when another one has ended, whatever time that is."""
        return self.rate_qps is None and not self.replays


@dataclass(frozen=True, slots=True)
class ResolverCase:
    """One configuration of a resolver, with what is asked of it before and while it is measured.

    The resolver is started for the case, with an empty cache, unless it follows on another `part`.
    """

    name: str
    """Fit for file names, different for all cases of a study."""
    axes: tuple[tuple[str, Any], ...]
    """What the case is in the study's tables."""
    traffic: Traffic
    validates: bool = True
    tree: str = TREE
    """Name of the Internet that it resolves against."""
    warm_up: tuple[str, ...] = ()
    """Streams that are asked through once before, unmeasured."""
    is_flushed: bool = False
    """Whether it is told to empty its cache after that."""
    parts_before: tuple[Traffic, ...] = ()
    """Loads that go before this one without a pause; measured as cases of their own."""
    condition: str = ""
    """Nftables rules and MTU of the links, by their name; "" has none."""
    is_balanced: bool = False
    """Whether dnsdist stands between clients and resolver."""


@dataclass(frozen=True, slots=True)
class ResolverBlock:
    """One resolver, started once, and the cases that follow one another while it is up."""

    label: str
    program: str
    cases: tuple[ResolverCase, ...]

    @property
    def file_name(self) -> str:
        """Name the block in file names."""
        return f"{self.label.replace('#', '_')}-{self.cases[0].name}"

    @property
    def title(self) -> str:
        """Name the block for readers."""
        return f"{self.label}, {self.cases[0].name}"

    @property
    def axes(self) -> dict[str, Any]:
        """Give what the block's cases have in common."""
        shared = set.intersection(*(set(case.axes) for case in self.cases))
        return {"server": self.label, **{key: value for key, value in self.cases[0].axes if (key, value) in shared}}

    def case_ids(self) -> dict[str, ResolverCase]:
        """Give the cases by their ids."""
        return {f"{self.label.replace('#', '_')}-{case.name}": case for case in self.cases}
