"""What a run found, as reports need it: targets, and what became of each item with each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dnsrig.runs.folder import RunFolder
from dnsrig.studies.functionality.published import PublishedItem, published_items
from dnsrig.verification.deviations import KnownFailures, known_deviations, why_known
from dnsrig.verification.item import ROLES, Role
from dnsrig.verification.verdicts import Severity, Verdict
from dnsrig.verification.verification import ORDER

ItemJson = Mapping[str, Any]
"""An item of verification.json."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server in a role, with what became of the items."""

    case_id: str
    role: Role
    name: str
    title: str
    version: str
    elapsed_s: float
    """Of all repetitions together."""
    items: Mapping[str, ItemJson]
    """By id, in the catalogue's order; those whose verdict varies between repetitions are inconclusive."""
    raised: Mapping[str, ItemJson] = field(default_factory=dict)
    """The same for items about size, with a raised limit of octets by UDP."""

    @property
    def known(self) -> KnownFailures:
        """The failures that are known of this version."""
        return known_deviations(self.role, self.name, self.version)

    def known_deviation(self, item: ItemJson) -> str | None:
        """Give why an item fails, where that is known of this version."""
        failed = item["verdict"] == Verdict.FAIL
        return why_known(self.known, item["id"], item["reason"]) if failed else None

    def of(self, verdict: Verdict) -> list[ItemJson]:
        """Give the items with a verdict, the severest first."""
        found = [item for item in self.items.values() if item["verdict"] == verdict]
        return sorted(found, key=lambda item: -Severity(item["severity"]).rank)

    @property
    def counts(self) -> dict[str, int]:
        """Count the verdicts, those that readers want first."""
        return {str(verdict): len(self.of(verdict)) for verdict in ORDER}


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """An item of JPRS-2010, with what was found by its items: a target's worst verdict, or None where there is none."""

    published: PublishedItem
    verdicts: tuple[Verdict | None, ...]
    raised: tuple[Verdict | None, ...]
    """With a raised limit of octets by UDP; None where that was not tried."""

    @property
    def name(self) -> str:
        """What to call it in running text: the report's id, or dnsrig's where that is a case's number only."""
        return self.published.id if "-" in self.published.id.partition(",")[0] else ", ".join(self.published.items)

    def has(self, verdict: Verdict) -> bool:
        """Say whether it ended so for some target."""
        return verdict in self.verdicts


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item with its verdict for each target."""

    item: ItemJson
    verdicts: tuple[Verdict | None, ...]
    known: tuple[bool, ...]
    """Whether this version of the target is known to fail it."""
    raised: tuple[Verdict | None, ...]
    """As of `PublishedRow`."""


@dataclass(frozen=True, slots=True)
class RoleFindings:
    """The targets of a role, and tables whose columns they are."""

    role: Role
    targets: tuple[Target, ...]

    @property
    def published(self) -> list[PublishedRow]:
        """Give JPRS-2010's items of this role."""
        rows = [item for item in published_items() if item.role == self.role]
        return [PublishedRow(row, self._worst(row.items), self._raised(row.items)) for row in rows]

    def _worst(self, ids: Sequence[str]) -> tuple[Verdict | None, ...]:
        return tuple(_worst(target.items, ids) for target in self.targets)

    def _raised(self, ids: Sequence[str]) -> tuple[Verdict | None, ...]:
        return tuple(_worst(target.raised, ids) for target in self.targets)

    @property
    def groups(self) -> dict[str, list[ItemRow]]:
        """Give every item by its group."""
        items = {item["id"]: item for target in self.targets for item in target.items.values()}
        groups: dict[str, list[ItemRow]] = {}
        for item in items.values():
            ids = [item["id"]]
            known = tuple(_is_known(target, item["id"]) for target in self.targets)
            row = ItemRow(item, self._worst(ids), known, self._raised(ids))
            groups.setdefault(item["group"], []).append(row)
        return groups


def _is_known(target: Target, item_id: str) -> bool:
    """Whether the target failed an item as its version is known to."""
    item = target.items.get(item_id)
    return item is not None and target.known_deviation(item) is not None


def findings(run: RunFolder) -> list[RoleFindings]:
    """Read what a run holds, role by role; roles without targets are left out."""
    targets = read_targets(run)
    by_role = {role: tuple(target for target in targets if target.role == role) for role in ROLES}
    return [RoleFindings(role, of_role) for role, of_role in by_role.items() if of_role]


def read_targets(run: RunFolder) -> list[Target]:
    """Read the targets in the order in which they were first verified."""
    by_case: dict[str, list[Mapping[str, Any]]] = {}
    for measurement in run.measurements():
        by_case.setdefault(measurement["case_id"], []).append(measurement)
    return [_target(case_id, repetitions) for case_id, repetitions in by_case.items()]


def _target(case_id: str, repetitions: Sequence[Mapping[str, Any]]) -> Target:
    case = repetitions[0]["case"]
    found = [repetition["verification"] for repetition in repetitions]
    # Runs from before have none.
    raised = [repetition["raised"] for repetition in repetitions if "raised" in repetition]
    return Target(
        case_id,
        case["role"],
        case["server"],
        case["server_title"],
        case["server_version"],
        sum(verification["elapsed_s"] for verification in found),
        _by_id(found),
        _by_id(raised),
    )


def _by_id(verifications: Sequence[Mapping[str, Any]]) -> dict[str, ItemJson]:
    by_id: dict[str, list[ItemJson]] = {}
    for verification in verifications:
        for item in verification["items"]:
            by_id.setdefault(item["id"], []).append(item)
    return {item_id: _agreed(items) for item_id, items in by_id.items()}


def _agreed(items: Sequence[ItemJson]) -> ItemJson:
    verdicts = [item["verdict"] for item in items]
    if len(set(verdicts)) == 1:
        return items[0]
    told = ", ".join(verdicts).replace("_", " ")
    worst = min(items, key=lambda item: ORDER.index(Verdict(item["verdict"])))
    reason = f"Repetitions end differently: {told}. {worst['reason']}"
    return {**worst, "verdict": str(Verdict.INCONCLUSIVE), "reason": reason}


def _worst(items: Mapping[str, ItemJson], ids: Sequence[str]) -> Verdict | None:
    verdicts = [Verdict(items[item_id]["verdict"]) for item_id in ids if item_id in items]
    return min(verdicts, key=ORDER.index, default=None)
