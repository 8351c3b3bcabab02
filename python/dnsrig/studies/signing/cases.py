"""The cases of the study signing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from dnsrig.studies.bench import server_labels
from dnsrig.studies.signing.settings import CHAINS, KEYS, PIECES, Part, SigningSettings
from dnsrig.studies.signing.signers.registry import signer

Action = Literal["sign", "split", "join", "bound"]
Source = Literal["sorted", "unsorted", "piece", "dated"]
"""Zone files to sign: as they should be, in no order, a piece, and signed already with several expirations."""
BOUND = "bound"
"""Label of the cases in which nothing but signing is measured."""
UNSORTED, PIECE, SPLIT, JOIN = "unsorted", "piece", "split", "join"
NO_KEY = "none"
RESIGNED_CHAIN = "nsec"
"""The chain of the zone that is signed again or by pieces: the published one."""
TOOLS: Mapping[str, str] = {"dnsrig": "dnsrig zone", "ldns": "ldns-zsplit and ldns-zcat"}
"""What splits and joins, by the signer that it belongs to."""


def threads_kind(threads: int) -> str:
    """Name the case of a number of threads."""
    return f"threads-{threads}"


def bound_kind(threads: int) -> str:
    """Name the case of signing alone on a number of threads."""
    return f"bound-{threads}"


def resign_kind(share: int, *, verified: bool = False) -> str:
    """Name the case of re-signing that makes `share` per cent anew; `verified`: no state file vouches for the rest."""
    return f"resign-{share}-verified" if verified else f"resign-{share}"


@dataclass(frozen=True, slots=True)
class Case:
    """One program doing one thing with one key."""

    label: str
    """Label of the program, such as `bind#2`."""
    program: str
    action: Action
    part: Part
    kind: str
    key: str
    chain: str
    threads: int
    source: Source = "sorted"
    regenerated: int | None = None
    verifies_kept: bool = False

    @property
    def case_id(self) -> str:
        """Name the case in file names."""
        return f"{self.label}-{self.kind}" if self.key == NO_KEY else f"{self.label}-{self.kind}-{self.key}"

    @property
    def axes(self) -> dict[str, Any]:
        """What tells the case from others, as measurements and failures record it."""
        return {
            "server": self.label,
            "part": self.part,
            "kind": self.kind,
            "key": self.key,
            "chain": self.chain,
            "threads": self.threads,
        }


def kind_labels(settings: SigningSettings) -> dict[str, str]:
    """Give the words for each kind of case, in the order of the tables."""
    labels = dict(CHAINS)
    for share in settings.regenerated:
        labels[resign_kind(share)] = f"{share} % made anew"
    for share in settings.regenerated:
        labels[resign_kind(share, verified=True)] = f"{share} % made anew, the rest verified"
    labels |= {SPLIT: f"split in {PIECES}", PIECE: f"one of {PIECES} pieces, one thread", JOIN: f"join {PIECES}"}
    labels[UNSORTED] = "input in no order"
    for threads in settings.threads:
        labels[threads_kind(threads)] = f"threads: {threads}"
    for threads in sorted({*settings.threads, settings.all_threads}):
        labels[bound_kind(threads)] = f"signing alone, threads: {threads}"
    return labels


def key_labels() -> dict[str, str]:
    """Give the words for each key."""
    return {NO_KEY: "no key", **{name: kind.label for name, kind in KEYS.items()}}


def all_cases(settings: SigningSettings) -> list[Case]:
    """List all cases; those of different programs that do the same follow one another."""
    labels = server_labels(settings.servers)
    found: list[Case] = []
    if "full" in settings.parts:
        found.extend(_full(settings, labels))
    if "incremental" in settings.parts:
        found.extend(_incremental(settings, labels))
    if "pieces" in settings.parts:
        found.extend(_pieces(settings, labels))
    key, chain, threads = settings.main_key, settings.main_chain, settings.all_threads
    if "unsorted" in settings.parts:
        for label, name in labels:
            found.append(Case(label, name, "sign", "unsorted", UNSORTED, key, chain, threads, "unsorted"))
    if "threads" in settings.parts:
        found.extend(_threads(settings, labels))
    for case in _needed(settings, labels, found):
        found.append(case)
    return list(_with_bounds(dict.fromkeys(found)))


def _full(settings: SigningSettings, labels: Sequence[tuple[str, str]]) -> Iterator[Case]:
    threads = settings.all_threads
    for key in settings.keys:
        for label, name in labels:
            yield Case(label, name, "sign", "full", settings.main_chain, key, settings.main_chain, threads)
    for chain in settings.chains[1:]:
        for label, name in labels:
            yield Case(label, name, "sign", "full", chain, settings.main_key, chain, threads)


def _incremental(settings: SigningSettings, labels: Sequence[tuple[str, str]]) -> Iterator[Case]:
    for key in settings.resigned_keys:
        for share in settings.regenerated:
            for label, name in labels:
                kind = signer(name)
                if not kind.resigns:
                    continue
                for verified in (False, True) if kind.has_state else (False,):
                    yield Case(
                        label,
                        name,
                        "sign",
                        "incremental",
                        resign_kind(share, verified=verified),
                        key,
                        RESIGNED_CHAIN,
                        settings.all_threads,
                        "dated",
                        share,
                        verified,
                    )


def _pieces(settings: SigningSettings, labels: Sequence[tuple[str, str]]) -> Iterator[Case]:
    key = settings.resigned_keys[0]
    tools = [(label, name) for label, name in labels if name in TOOLS]
    for label, name in tools:
        yield Case(label, name, "split", "pieces", SPLIT, NO_KEY, NO_KEY, settings.all_threads)
    for label, name in labels:
        yield Case(label, name, "sign", "pieces", PIECE, key, RESIGNED_CHAIN, 1, "piece")
    for label, name in tools:
        yield Case(label, name, "join", "pieces", JOIN, key, RESIGNED_CHAIN, settings.all_threads, "dated")


def _threads(settings: SigningSettings, labels: Sequence[tuple[str, str]]) -> Iterator[Case]:
    key, chain = settings.main_key, settings.main_chain
    for threads in settings.threads:
        for label, name in labels:
            if signer(name).has_threads and threads != settings.all_threads:
                yield Case(label, name, "sign", "threads", threads_kind(threads), key, chain, threads)


def _needed(settings: SigningSettings, labels: Sequence[tuple[str, str]], found: Sequence[Case]) -> Iterator[Case]:
    """Give the full signings that other parts are compared with, where the part `full` does not have them."""

    def full(chain: str, key: str) -> Iterator[Case]:
        for label, name in labels:
            yield Case(label, name, "sign", "full", chain, key, chain, settings.all_threads)

    keys = {case.key for case in found if case.action == "sign"}
    for key in (key for key in settings.keys if key in keys):
        yield from full(settings.main_chain, key)
    resigned = {case.key for case in found if case.part in {"incremental", "pieces"}}
    for key in (key for key in settings.resigned_keys if key in resigned):
        yield from full(RESIGNED_CHAIN, key)


def _with_bounds(found: Iterable[Case]) -> Iterator[Case]:
    """Put signing alone after the first cases of a key and number of threads in which a whole zone is signed.

    Next to them, because a machine that is busier at another time gives another limit.
    """
    known: set[tuple[str, int]] = set()
    for (part, _, key, threads), group in groupby(found, lambda case: (case.part, case.kind, case.key, case.threads)):
        cases = list(group)
        yield from cases
        is_whole = part in {"full", "threads"} and cases[0].action == "sign"
        if is_whole and (key, threads) not in known:
            known.add((key, threads))
            yield Case(BOUND, BOUND, "bound", part, bound_kind(threads), key, NO_KEY, threads)
