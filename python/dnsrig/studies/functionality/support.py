"""Which algorithms and digest types of DNSSEC resolvers validate, read from the evidence of the items about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dns.dnssectypes import Algorithm

from dnsrig.items.resolver._table import STATUSES
from dnsrig.studies.functionality.found import Target
from dnsrig.verification.tree.cases import Status
from dnsrig.verification.tree.zones_algorithms import DIGESTS, SUPPORT, UNSUPPORT

LINE = re.compile(r"(\S+) \(.*\): (\w+)")
"""As `check_with_statuses` writes them."""
FAILS = "SERVFAIL"
UNCHECKED = "takes what is wrong"
"""Of an algorithm or digest type whose wrong signatures or digests are taken as well."""


@dataclass(frozen=True, slots=True)
class SupportRow:
    """An algorithm, with what each target does for each digest type of the DS record."""

    algorithm: int
    statuses: tuple[Mapping[int, str], ...]
    """By digest type a Status, or UNCHECKED; empty where the items were not run, or could not be judged."""

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


def _statuses(target: Target) -> dict[tuple[int, int], str]:
    """Read what a target's resolver found, by algorithm and digest type.

    Who gives wrong data besides, has not validated the right ones.
    """
    texts = [one["text"] for item in target.items.values() for one in item["evidence"] if one["title"] == STATUSES]
    lines = [LINE.fullmatch(line) for text in texts for line in text.splitlines()]
    told = {line[1]: line[2] for line in lines if line is not None and line[2] in set(Status)}
    found: dict[tuple[int, int], str] = {SUPPORT[name]: word for name, word in told.items() if name in SUPPORT}
    for name, wrong in UNSUPPORT.items():
        if told.get(name) == Status.SECURE and told.get(wrong, Status.BOGUS) != Status.BOGUS:
            # A wrong signature tells of the algorithm, whatever the digest; a wrong digest of its type.
            place = 1 if name.startswith("www.digest-") else 0
            found |= {each: UNCHECKED for each in found if each[place] == SUPPORT[name][place]}
    return found


def _cell(statuses: Mapping[int, str]) -> str:
    words = {Status.SECURE: "", Status.INSECURE: "not validated", Status.BOGUS: FAILS, UNCHECKED: UNCHECKED}
    parts = []
    for status, said in words.items():
        names = [DIGESTS[digest] for digest in sorted(statuses) if statuses[digest] == status]
        if names:
            alone = said and len(names) == len(statuses)
            parts.append(said if alone else ", ".join(names) + (f" {said}" if said else ""))
    return "; ".join(parts)
