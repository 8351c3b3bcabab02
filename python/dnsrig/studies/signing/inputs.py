"""What signers are given: zone files in several states, and keys."""

import random
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dnsrig import _core
from dnsrig.dates import DAY_S
from dnsrig.errors import SubjectFailedError
from dnsrig.keys import KSK_BITS
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.signing.child import DNSRIG, run_to_end
from dnsrig.studies.signing.settings import KEYS, ORIGIN, PIECES, SigningSettings
from dnsrig.studies.signing.signers.base import Keys, Task, date
from dnsrig.studies.signing.signers.dnsrig import Dnsrig

ZONE_FILE = "zone.db"
UNSORTED_FILE = "unsorted.db"
SCRATCH = "scratch"
APART_S = 5 * DAY_S
"""What lies between the expirations of the pieces."""
VALIDITY_S = 30 * DAY_S
"""How long new signatures are valid; later than all of the pieces'."""
BEFORE_S = 3600
"""So long ago signatures begin to be valid."""


def refresh_interval_s(share: int) -> int:
    """Give the refresh interval that makes the first `share` per cent of the pieces' signatures anew."""
    return APART_S * share * PIECES // 100 + APART_S // 2


@dataclass(frozen=True, slots=True)
class Dated:
    """The zone signed in pieces that expire one after the other."""

    pieces: tuple[Path, ...]
    manifest: Path
    joined: Path
    """With the state file beside it that `dnsrig sign` knows the signatures by."""
    last_expiration: str
    """Of the last piece; what expires later was made since."""


class Inputs:
    """Makes inputs in a run's folder: zone and keys once for all, the rest when it is first needed."""

    def __init__(self, settings: SigningSettings, run: RunFolder) -> None:
        self._settings = settings
        self._run = run
        # Programs that get these paths run in folders of their own.
        self._path = run.path.absolute()
        self.scratch = self._path / SCRATCH
        self.zone = self._path / "inputs" / ZONE_FILE
        self._dated: dict[str, Dated | SubjectFailedError] = {}
        self._pieces: tuple[Path, ...] = ()
        self._unsorted: Path | None = None
        self.origin, self.statistics = self._make_zone()

    def _make_zone(self) -> tuple[str, Mapping[str, object]]:
        settings = self._settings
        if settings.zone is None:
            origin = absolute(settings.origin or ORIGIN)
            if not self.zone.exists():
                _core.generate_zone(self.zone, model="tld", origin=origin, names=settings.names, seed=settings.seed)
        elif not self.zone.exists():
            self._run.add_input(Path(settings.zone))
            _core.Zone.read(settings.zone, settings.origin).without_dnssec().write(self.zone)
        self._run.add_input(self.zone)
        zone = _core.Zone.read(self.zone, None)
        return zone.origin, zone.statistics()

    def facts(self) -> dict[str, object]:
        """Give what the report says of the zone."""
        zone = {"origin": self.origin, **self.statistics, "octets": self.zone.stat().st_size}
        return {"zone": zone}

    def keys(self, name: str) -> Keys:
        """Give a key-signing and a zone-signing key of a kind; the same again in a resumed run."""
        folder = self._path / "inputs" / f"keys-{name}"
        if not folder.exists():
            kind = KEYS[name]
            made = folder.with_name(f".{folder.name}.new")
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir(mode=0o700)
            keys = _core.KeySet()
            keys.generate(self.origin, kind.algorithm, kind.bits and KSK_BITS, "ksk")
            keys.generate(self.origin, kind.algorithm, kind.bits, "zsk")
            keys.write(made)
            made.replace(folder)
        return Keys(folder, tuple(sorted(path.stem for path in folder.glob("*.private"))))

    @property
    def unsorted(self) -> Path:
        """The zone with its records in no order, the SOA record first."""
        if self._unsorted is None:
            path = self._fresh("unsorted") / UNSORTED_FILE
            lines = self.zone.read_bytes().splitlines(keepends=True)
            first, rest = lines[:1], lines[1:]
            random.Random(self._settings.seed).shuffle(rest)
            path.write_bytes(b"".join([*first, *rest]))
            self._unsorted = path
        return self._unsorted

    @property
    def pieces(self) -> tuple[Path, ...]:
        """The unsigned pieces of the zone; their manifest is beside them."""
        if not self._pieces:
            self._pieces = self._split(self.zone, self._fresh("pieces"))
        return self._pieces

    def _split(self, zone: Path, folder: Path) -> tuple[Path, ...]:
        prefix = folder / "zone"
        run_to_end(split_command(zone, prefix), folder)
        return tuple(prefix.with_name(f"zone.{number}") for number in range(1, PIECES + 1))

    def dated(self, key: str) -> Dated:
        """Give the zone signed with several expirations. Raises SubjectFailedError, each time, if that fails."""
        if key not in self._dated:
            try:
                self._dated[key] = self._make_dated(key)
            except SubjectFailedError as error:
                self._dated[key] = error
        found = self._dated[key]
        if isinstance(found, SubjectFailedError):
            raise found
        return found

    def _make_dated(self, key: str) -> Dated:
        folder, now = self._fresh(f"dated-{key}"), int(time.time())
        chained = self.task(self.zone, key, self._fresh(f"chain-{key}"), now=now)
        run_to_end(Dnsrig().chain_command(chained), chained.folder)
        unsigned = self._split(chained.output, folder)
        signed = []
        for number, piece in enumerate(unsigned, 1):
            work = folder / str(number)
            work.mkdir()
            task = self.task(piece, key, work, now=now, expires_in_s=APART_S * number, chain="given")
            run_to_end(Dnsrig().command(task), work)
            signed.append(task.output)
        manifest = unsigned[0].with_name("zone.pieces")
        raw = folder / "joined.zone"
        run_to_end(join_command(signed, manifest, raw), folder)
        # What is kept all goes through verification once, which writes the state file.
        work = folder / "joined"
        work.mkdir()
        task = self.task(raw, key, work, now=now, expires_in_s=VALIDITY_S, refresh_s=refresh_interval_s(0))
        run_to_end(Dnsrig().command(task), work)
        for leftover in (raw, chained.output, *unsigned):
            leftover.unlink()
        last = date(now + APART_S * PIECES)
        return Dated(tuple(signed), manifest, task.output, last)

    def task(
        self,
        zone: Path,
        key: str,
        folder: Path,
        *,
        now: int,
        expires_in_s: int = VALIDITY_S,
        refresh_s: int | None = None,
        chain: str = "nsec",
        threads: int | None = None,
        verifies_kept: bool = False,
    ) -> Task:
        """Give the task of signing a zone file with a kind of key."""
        return Task(
            zone=zone,
            origin=self.origin,
            keys=self.keys(key),
            folder=folder,
            chain=chain,
            threads=threads or self._settings.all_threads,
            inception=now - BEFORE_S,
            expiration=now + expires_in_s,
            refresh_s=refresh_s,
            verifies_kept=verifies_kept,
        )

    def _fresh(self, name: str) -> Path:
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def absolute(name: str) -> str:
    """Give a name its final dot."""
    return name if name.endswith(".") else f"{name}."


def split_command(zone: Path, prefix: Path) -> list[str]:
    """Give the command that cuts a zone into pieces `PREFIX.1`, `PREFIX.2`, ..."""
    return [*DNSRIG, "zone", "split", str(zone), "-n", str(PIECES), "-f", str(prefix)]


def join_command(pieces: list[Path], manifest: Path, output: Path) -> list[str]:
    """Give the command that puts pieces together."""
    return [*DNSRIG, "zone", "join", *map(str, pieces), "--manifest", str(manifest), "-f", str(output)]
