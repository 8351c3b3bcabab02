"""Which algorithms and digest types of DNSSEC resolvers validate, read from the evidence of the items about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dns.dnssectypes import Algorithm

from dnsrig.items.resolver._table import STATUSES
from dnsrig.studies.functionality.found import Target
from dnsrig.verification.tree.cases import Status
from dnsrig.verification.tree.zones_algorithms import DIGESTS, SUPPORT

LINE = re.compile(r"(\S+) \(.*\): (\w+)")
"""As `check_with_statuses` writes them."""
FAILS = "SERVFAIL"


@dataclass(frozen=True, slots=True)
class SupportRow:
    """An algorithm, with what each target does for each digest type of the DS record."""

    algorithm: int
    statuses: tuple[Mapping[int, Status], ...]
    """By digest type; empty where the items were not run, or could not be judged."""

    @property
    def title(self) -> str:
        """Name and number."""
        return f"{self.algorithm} {Algorithm.make(self.algorithm).name}"

    @property
    def cells(self) -> tuple[str, ...]:
        """Say for each target with which digest types it validates, and what it does with the others."""
        return tuple(_cell(statuses) for statuses in self.statuses)


def support(targets: Sequence[Target]) -> list[SupportRow]:
    """Give a row for each algorithm of the tree; none where no target has any evidence of it."""
    found = [_statuses(target) for target in targets]
    rows = [
        SupportRow(number, tuple({digest: one for (of, digest), one in each.items() if of == number} for each in found))
        for number in dict.fromkeys(number for number, _ in SUPPORT.values())
    ]
    return sorted((row for row in rows if any(row.statuses)), key=lambda row: row.algorithm)


def _statuses(target: Target) -> dict[tuple[int, int], Status]:
    """Read what a target's resolver found, by algorithm and digest type."""
    texts = [one["text"] for item in target.items.values() for one in item["evidence"] if one["title"] == STATUSES]
    lines = [LINE.fullmatch(line) for text in texts for line in text.splitlines()]
    told = [(line[1], line[2]) for line in lines if line is not None and line[1] in SUPPORT]
    return {SUPPORT[name]: Status(word) for name, word in told if word in set(Status)}


def _cell(statuses: Mapping[int, Status]) -> str:
    words = {Status.SECURE: "", Status.INSECURE: "not validated", Status.BOGUS: FAILS}
    parts = []
    for status, said in words.items():
        names = [DIGESTS[digest] for digest in sorted(statuses) if statuses[digest] == status]
        if names:
            alone = said and len(names) == len(statuses)
            parts.append(said if alone else ", ".join(names) + (f" {said}" if said else ""))
    return "; ".join(parts)
