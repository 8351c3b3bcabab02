"""How zone files are signed: the settings of `_core.sign_zone`, and which keys sign."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dnsrig import _core
from dnsrig.dates import DAY_S
from dnsrig.errors import InputError
from dnsrig.key_files import located
from dnsrig.key_life import doubts_of_named, is_revoked
from dnsrig.keys import add_new_keys

INCEPTION_OFFSET_S = 3600
"""Signatures are valid from this long before now, for validators whose clocks are behind, as dnssec-signzone has it."""
VALIDITY_S = 30 * DAY_S
"""How long signatures are valid, as dnssec-signzone has it."""
REFRESH_SHARE = 4
"""Signatures are renewed in the last quarter of their validity, as dnssec-signzone has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """How a zone file is to be signed; times are seconds since 1970, those of signatures modulo 2**32.

    `chain` is `nsec`, `nsec3` (with `iterations`, `salt` in hexadecimal and `opt_out`), `given`: the one that the zone
    has, for pieces of a zone, or `kept`: one like that of the zone, NSEC where it has none. Without `signs` the zone
    only gets its keys and its chain. Signatures of the input that end within `refresh_s` of `now_s` are renewed; those
    kept are verified unless the state file beside the input vouches for them (`has_state`, `verifies_kept`).
    Expirations are up to `jitter_s` earlier, by name and type, than `expiration`, or `keys_expiration`, if given, for
    the apex' DNSKEY, CDS and CDNSKEY records.

    `by_times` uses the keys by their times, as `dnssec-signzone -S` does; else all sign. Keys that the zone has
    besides `stay`, `go`, or are `refused`. `saves_keys_in` is where the files of the keys are written just before the
    zone gets its name. `changes` is a file of records that go and come, as `dnsrig zone compare` prints them;
    signatures of other names are then kept as they are. `previous` is a signed earlier version of the zone, whose
    signatures, chain and state file are used instead of the zone's own. `zonemd` are the digests that the zone gets
    (RFC 8976); None makes those anew that it has.
    """

    chain: Literal["nsec", "nsec3", "given", "kept"] = "nsec"
    iterations: int = 0
    salt: str = ""
    opt_out: bool = False
    signs: bool = True
    inception: int
    expiration: int
    keys_expiration: int | None = None
    now_s: int
    refresh_s: int
    jitter_s: int = 0
    verifies_kept: bool = False
    has_state: bool = True
    serial: Literal["keep", "increment", "unixtime", "date"] = "keep"
    dnskey_ttl_s: int | None = None
    allows_sha1: bool = False
    publishes_cds: bool = False
    zonemd: list[Literal["sha384", "sha512"]] | None = None
    by_times: bool = False
    other_keys: Literal["stay", "go", "refused"] = "stay"
    saves_keys_in: Path | None = None
    changes: Path | None = None
    previous: Path | None = None


@dataclass(frozen=True, slots=True)
class NewKeys:
    """What keys are made where there are none; `None` is the default."""

    algorithm: str | None = None
    ksk_bits: int | None = None
    zsk_bits: int | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether anything of it was chosen."""
        return self != NewKeys()


@dataclass(frozen=True, slots=True)
class ChosenKeys:
    """Keys, and how they are to be used: see Signing."""

    keys: _core.KeySet
    by_times: bool = False
    other_keys: Literal["stay", "go", "refused"] = "stay"
    saves_keys_in: Path | None = None
    warnings: tuple[str, ...] = field(default=())


def read_keys(
    paths: Sequence[Path], key_signing: Sequence[Path], folder: Path | None, *, now_s: int | None = None
) -> ChosenKeys:
    """Read the keys in `paths`, and those in `key_signing`, which sign the keys whatever their flags say.

    Names without folder are looked for in `folder` first. Raises InputError for keys that do not sign at `now_s`, in
    seconds since 1970 (None: now).
    """
    keys = _core.KeySet()
    found = [located(path, folder) for path in (*key_signing, *paths)]
    for index, path in enumerate(found):
        keys.read(path, "ksk" if index < len(key_signing) else None)
    keys.check_active(_or_present(now_s))
    doubts = doubts_of_named(keys, _or_present(now_s))
    private = (stem.with_name(f"{stem.name}.private") for stem in found)
    return ChosenKeys(keys, warnings=(*_readable_by_others(private), *doubts))


def _readable_by_others(paths: Iterable[Path]) -> list[str]:
    """Say which files of private keys others than their owner can read or change."""
    return [
        f"{path}: others than its owner can read or change this private key; chmod 600 ends that"
        for path in paths
        if path.exists() and path.stat().st_mode & 0o077
    ]


def find_keys(
    folder: Path, origin: str, new: NewKeys, *, replace: bool, allow_sha1: bool, now_s: int | None = None
) -> ChosenKeys:
    """Find the keys of the zone `origin` in `folder`, to be used by their times; if there are none, make new ones.

    Doubts are told as of `now_s`, in seconds since 1970 (None: now). With `replace` new keys are made in any case.
    Raises InputError where `new` is chosen and there are keys already.
    """
    if not folder.is_dir():
        raise InputError(f"-K {folder}: no such folder; make it first")
    keys = _core.KeySet()
    if not replace:
        public_only = keys.read_directory(folder, origin)
        if len(keys) > 0 and new.is_chosen:
            raise InputError(
                f"-K {folder}: it has keys of the zone {origin} already; leave out what new keys are to be like, or "
                "add --new-keys to replace them"
            )
        if len(keys) > 0:
            warnings = [
                f"{folder / name}.key: without its private key, so the key does not sign" for name in public_only
            ]
            readable = _readable_by_others(folder / f"{fact['file_name']}.private" for fact in keys.describe())
            return ChosenKeys(keys, by_times=True, warnings=(*warnings, *readable, *_doubts(keys, _or_present(now_s))))
    add_new_keys(keys, origin, new.algorithm, new.ksk_bits, new.zsk_bits, folder=folder, allow_sha1=allow_sha1)
    return ChosenKeys(keys, other_keys="go" if replace else "refused", saves_keys_in=folder)


def _or_present(now_s: int | None) -> int:
    return int(time.time()) if now_s is None else now_s


def _doubts(keys: _core.KeySet, now_s: int) -> list[str]:
    """Say what keys by their times leave to be desired."""
    facts = keys.describe(now_s)
    said = [
        f"{fact['file_name']} is to sign already, but is not published, so it does not sign yet"
        for fact in facts
        if fact["is_active"] and not fact["is_published"]
    ]
    for algorithm in dict.fromkeys(fact["algorithm"] for fact in facts):
        zone_signing, key_signing = (
            [fact for fact in facts if fact["algorithm"] == algorithm and fact["role"] == role]
            for role in ("zsk", "ksk")
        )
        if zone_signing and not any(map(_signs, zone_signing)) and any(map(_signs, key_signing)):
            said.append(f"no zone-signing key of {algorithm} signs at present, so a key-signing key signs everything")
    key_signing = [fact for fact in facts if fact["role"] == "ksk"]
    if key_signing and not any(_signs(fact) for fact in key_signing):
        said.append("no key-signing key signs at present, so DS records in the parent zone match none that does")
    return said


def _signs(fact: dict[str, Any]) -> bool:
    return fact["is_active"] and fact["is_published"] and not is_revoked(fact)
