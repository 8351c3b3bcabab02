"""Making the tree in a folder: zone files, root hints, trust anchors."""

import errno
import hashlib
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

import dns.name
import dns.zone
from dns.dnssectypes import Algorithm

from dnsrig import _core
from dnsrig.dates import DAY_S
from dnsrig.errors import EnvironmentLacksError
from dnsrig.scratch import scratch_folder
from dnsrig.signing import Signing
from dnsrig.verification.tree.cases import TableRow, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit, sign_by_hand
from dnsrig.verification.tree.keys import BIND_NAMES, ZoneKeys, new_keys
from dnsrig.verification.tree.loaded import LoadedZone
from dnsrig.verification.tree.plan import PLANS

PREFIX = "127.53.0"
"""The tree's addresses begin so: the root's is 127.53.0.1."""
ADDRESSES = 8
FRESH_S = DAY_S
"""A tree in a folder is made anew when it is older: signatures are to be about right for days yet."""
DESCRIPTION = "tree.json"
SOA = "hostmaster 1 3600 600 1209600"


@dataclass(frozen=True, slots=True)
class MadeZone:
    """A zone of the tree with its file."""

    plan: ZonePlan
    path: Path


@dataclass(frozen=True)
class Tree:
    """The zones in a folder, and what a resolver must be told."""

    folder: Path
    prefix: str
    zones: tuple[MadeZone, ...]
    made_s: int
    loaded: dict[dns.name.Name, LoadedZone] = field(default_factory=dict, compare=False, repr=False)
    """Zones whose files have been read, for all that serve the tree."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses that serve the tree, all on port 53."""
        return addresses_of(self.prefix)

    @property
    def served(self) -> list[tuple[str, list[tuple[str, Path]]]]:
        """Each address with the zones, by name and file, that it serves."""
        return [
            (address, [(zone.plan.name, zone.path) for zone in self.zones if index in zone.plan.servers])
            for index, address in enumerate(self.addresses)
        ]

    @property
    def root_hints(self) -> str:
        """The root's name server, as a zone file's text."""
        return f". 3600 IN NS ns1.\nns1. 3600 IN A {self.addresses[0]}\n"

    @property
    def trust_anchor_ds(self) -> str:
        """The root's DS record, as a zone file's text."""
        return (self.folder / "root.ds").read_text(encoding="ascii")

    @property
    def trust_anchor_dnskey(self) -> str:
        """The root's key-signing key as a DNSKEY record, as a zone file's text."""
        return (self.folder / "root.key").read_text(encoding="ascii")

    @cached_property
    def table(self) -> tuple[TableRow, ...]:
        """All questions with what a right validator answers."""
        return tuple(TableRow(zone.plan, case) for zone in self.zones for case in zone.plan.cases)

    @classmethod
    def opened(cls, folder: Path) -> Self:
        """Open a tree that was made.

        Raises:
            OSError: it is not there.

        """
        facts = json.loads((folder / DESCRIPTION).read_text(encoding="ascii"))
        zones = tuple(MadeZone(plan, folder / _file_name(plan)) for plan in PLANS)
        return cls(folder, facts["prefix"], zones, facts["made_s"])


def addresses_of(prefix: str) -> tuple[str, ...]:
    """Give the addresses of a tree whose addresses begin so."""
    return tuple(f"{prefix}.{index + 1}" for index in range(ADDRESSES))


Step = Callable[[], None]
"""Is called after each piece of the work; what it raises ends it."""
STEPS_TO_MAKE = 2 * len(PLANS)


def make_tree(folder: Path, prefix: str = PREFIX, now_s: int | None = None, step: Step = lambda: None) -> Tree:
    """Make the tree below `folder`, or find it there if it was made within a day by the same description.

    It is made in STEPS_TO_MAKE steps, and found in none.

    Raises:
        EnvironmentLacksError: there can be no such folder.

    """
    now_s = int(time.time()) if now_s is None else now_s
    target = folder / f"tree-{_digest(prefix)}"
    try:
        tree = Tree.opened(target)
        if 0 <= now_s - tree.made_s < FRESH_S:
            return tree
        shutil.rmtree(target)
    except (FileNotFoundError, ValueError, KeyError):
        shutil.rmtree(target, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentLacksError(f"{folder}: no folder can be made: {error.strerror}; name another one") from error
    with scratch_folder("tree-", folder) as scratch:
        made = scratch / "tree"
        made.mkdir()
        _Making(made, scratch, prefix, now_s, step).make_all()
        try:
            made.rename(target)
        except OSError as error:
            # Another process made the same at the same time.
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
    return Tree.opened(target)


def _digest(prefix: str) -> str:
    """Digest what the zones are made by: this package's code, and the addresses."""
    digest = hashlib.sha256(prefix.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _file_name(plan: ZonePlan) -> str:
    return f"{plan.name.removesuffix('.') or 'root'}.zone"


@dataclass(frozen=True, slots=True)
class _Reading:
    """How `_core` is to read zone files."""

    origin: str | None
    memory: int | None = None
    threads: int | None = 1
    on_progress: Callable[[int], None] | None = None


@dataclass(frozen=True, slots=True)
class _Making:
    """One making of the tree."""

    folder: Path
    scratch: Path
    prefix: str
    now_s: int
    step: Step

    def make_all(self) -> None:
        """Make the zones; DS records rest on keys alone, so that the order does not matter."""
        keys: dict[str, ZoneKeys] = {}
        for plan in PLANS:
            keys[plan.name] = new_keys(Algorithm.make(plan.algorithm))
            self.step()
        children: dict[str, list[tuple[ZonePlan, Sequence[str]]]] = defaultdict(list)
        by_origin = {plan.origin: plan for plan in PLANS}
        for plan in PLANS:
            if plan.name != ".":
                children[parent_of(plan, by_origin).name].append((plan, self._ds(plan, keys[plan.name])))
        for plan in PLANS:
            self._make(plan, keys[plan.name], children[plan.name])
            self.step()
        root = keys["."]
        ds = "".join(f". 3600 IN DS {text}\n" for text in root.ds(dns.name.root))
        (self.folder / "root.ds").write_text(ds, encoding="ascii")
        (self.folder / "root.key").write_text(f". 3600 IN DNSKEY {root.ksk.dnskey}\n", encoding="ascii")
        facts = {"prefix": self.prefix, "made_s": self.now_s}
        (self.folder / DESCRIPTION).write_text(json.dumps(facts) + "\n", encoding="ascii")

    @staticmethod
    def _ds(plan: ZonePlan, keys: ZoneKeys) -> Sequence[str]:
        if plan.ds is not None:
            return plan.ds(keys, plan.origin)
        return keys.ds(plan.origin) if plan.chain else ()

    def _make(self, plan: ZonePlan, keys: ZoneKeys, children: Sequence[tuple[ZonePlan, Sequence[str]]]) -> None:
        target = self.folder / _file_name(plan)
        unsigned = self.scratch / f"{target.name}.unsigned"
        unsigned.write_text("\n".join(self._lines(plan, children)) + "\n", encoding="ascii")
        by_core = plan.chain and plan.algorithm in BIND_NAMES
        if by_core:
            self._sign(plan, keys, unsigned, target)
        edits = [plan.edit] if plan.edit else []
        parent_edits = [(child.parent_edit, child.origin) for child, _ in children if child.parent_edit]
        if by_core and not edits and not parent_edits:
            return
        source = target if by_core else unsigned
        zone = dns.zone.from_file(str(source), plan.origin, relativize=False, check_origin=False)
        edit = ZoneEdit(zone, plan.origin, keys, self._times(plan))
        if plan.chain and not by_core:
            sign_by_hand(edit)
        for change in edits:
            change(edit)
        for parent_change, origin in parent_edits:
            parent_change(edit, origin)
        zone.to_file(str(target), relativize=False, sorted=True)

    def _times(self, plan: ZonePlan) -> tuple[int, int]:
        return self.now_s + plan.validity_s[0], self.now_s + plan.validity_s[1]

    def _lines(self, plan: ZonePlan, children: Sequence[tuple[ZonePlan, Sequence[str]]]) -> Iterable[str]:
        yield f"$ORIGIN {plan.name}"
        yield "$TTL 60"
        yield f"@ 300 IN SOA ns1 {SOA} {plan.minimum_s}"
        yield from self._name_servers("@", plan)
        yield from plan.records
        for child, ds in children:
            yield from self._name_servers(child.name, child)
            yield from (f"{child.name} 300 IN DS {text}" for text in ds)

    def _name_servers(self, owner: str, plan: ZonePlan) -> Iterable[str]:
        for number, index in enumerate(plan.servers, 1):
            name = f"ns{number}.{plan.name.removeprefix('.')}"
            yield f"{owner} 300 IN NS {name}"
            yield f"{name} 300 IN A {self.prefix}.{index + 1}"

    def _sign(self, plan: ZonePlan, keys: ZoneKeys, source: Path, target: Path) -> None:
        chosen = _core.KeySet()
        for path in keys.write(self.scratch, plan.origin):
            chosen.read(path)
        inception, expiration = self._times(plan)
        signing = Signing(
            chain="nsec" if plan.chain == "nsec" else "nsec3",
            iterations=plan.iterations,
            salt=plan.salt,
            opt_out=plan.chain == "opt-out",
            inception=inception,
            expiration=expiration,
            now_s=self.now_s,
            refresh_s=0,
            dnskey_ttl_s=300,
            allows_sha1=True,
        )
        _core.sign_zone(source, target, chosen, signing, _Reading(plan.name))


def parent_of(plan: ZonePlan, by_origin: Mapping[dns.name.Name, ZonePlan]) -> ZonePlan:
    """Give the zone that delegates this one, which is not the root."""
    above = plan.origin.parent()
    while above not in by_origin:
        above = above.parent()
    return by_origin[above]
