"""Several verifications side by side: the items, with a column for each target."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dnsrig.verification.item import Item
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.verification import ORDER, Verification


@dataclass(frozen=True, slots=True)
class Row:
    """An item with its result for each target; None where it was not run."""

    item: Item
    results: tuple[Result | None, ...]

    @property
    def verdicts(self) -> tuple[Verdict | None, ...]:
        """The verdict for each target."""
        return tuple(None if result is None else result.outcome.verdict for result in self.results)

    @property
    def differs(self) -> bool:
        """Whether targets end differently."""
        return len(set(self.verdicts)) > 1


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Why some items are not applicable, and to which targets."""

    reason: str
    targets: tuple[str, ...]
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Verifications of the same role, by the same items."""

    verifications: Sequence[Verification]

    @property
    def columns(self) -> list[str]:
        """The targets' names; the second one of the same name is called `nsd#2`."""
        seen: Counter[str] = Counter()
        names = []
        for verification in self.verifications:
            seen[verification.target] += 1
            number = seen[verification.target]
            names.append(verification.target if number == 1 else f"{verification.target}#{number}")
        return names

    @property
    def rows(self) -> list[Row]:
        """Every item: those first in which targets differ, then those that all fail, then the others."""
        items = {result.item.id: result.item for one in self.verifications for result in one.results}
        by_id = [{result.item.id: result for result in one.results} for one in self.verifications]
        rows = [Row(item, tuple(known.get(item.id) for known in by_id)) for item in items.values()]
        return sorted(rows, key=_place)

    @property
    def differing(self) -> list[Row]:
        """The items in which targets differ."""
        return [row for row in self.rows if row.differs]

    @property
    def alike(self) -> list[Row]:
        """The other items."""
        return [row for row in self.rows if not row.differs]

    def reasons(self) -> list[tuple[str, Result]]:
        """Give what failed or could not be found out, item by item in the order of the rows, with the target."""
        return [
            (name, result)
            for row in self.rows
            for name, result in zip(self.columns, row.results, strict=True)
            if result is not None and result.outcome.verdict in {Verdict.FAIL, Verdict.INCONCLUSIVE}
        ]

    def not_applicable(self) -> list[NotApplicable]:
        """Give why items are not applicable, each reason once for the targets that give it, most items first."""
        alike: dict[tuple[str, tuple[str, ...]], list[Item]] = {}
        for row in self.rows:
            by_reason: dict[str, list[str]] = {}
            for name, result in zip(self.columns, row.results, strict=True):
                if result is not None and result.outcome.verdict == Verdict.NOT_APPLICABLE:
                    by_reason.setdefault(result.outcome.reason, []).append(name)
            for reason, names in by_reason.items():
                alike.setdefault((reason, tuple(names)), []).append(row.item)
        found = [NotApplicable(reason, names, items) for (reason, names), items in alike.items()]
        return sorted(found, key=lambda one: -len(one.items))


def _place(row: Row) -> tuple[bool, int, int]:
    worst = min(ORDER.index(verdict) for verdict in row.verdicts if verdict is not None)
    return not row.differs, worst, -row.item.severity.rank
