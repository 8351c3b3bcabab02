"""What targets of all roles have in common, once they can be asked."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from dnsrig.verification.deviations import KnownFailures
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.runner import Check, Result, Subject
from dnsrig.verification.targets import merged
from dnsrig.verification.verification import Verification


class Target(Protocol):
    """A target that can be asked."""

    @property
    def version(self) -> str | None:
        """Name and version, where the rig started it."""
        ...

    @property
    def subjects(self) -> Sequence[Subject]:
        """What items are run against: one for each zone of an authoritative server, else one."""
        ...

    @property
    def zones(self) -> Sequence[str]:
        """The names of the zones, in the order of the subjects; none where subjects are no zones."""
        ...

    @property
    def endpoint(self) -> Endpoint:
        """What is asked."""
        ...

    @property
    def known(self) -> KnownFailures:
        """What this version is known to fail."""
        ...

    @property
    def lateness(self) -> Lateness:
        """When the rig's servers were late that the target depends on; the runner adds what it sees itself."""
        ...

    @property
    def check_survived(self) -> Check:
        """See that what the rig started has not ended by itself; raises SubjectFailedError where it has."""
        ...

    @property
    def limit_s(self) -> float | None:
        """How long its items may take in all, in seconds; None: as long as they do."""
        ...


def verification_of(
    role: Role,
    name: str,
    target: Target,
    items: Sequence[KnownItem],
    by_subject: Sequence[Sequence[Result]],
    *,
    began: datetime,
    elapsed_s: float,
) -> Verification:
    """Put together what items found of each subject of the target that the user calls `name`."""
    results = merged(items, by_subject, target.zones, target.known)
    zone = target.zones[0] if len(target.zones) == 1 else None
    return Verification(
        role, name, target.version, zone, results, elapsed_s, target.known, began=began, endpoint=target.endpoint
    )
