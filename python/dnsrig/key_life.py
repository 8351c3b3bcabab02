"""What each key of a signing did and will do, and which times of keys leave validators without a key or a signature."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from dnsrig import _core
from dnsrig.dates import date_digits
from dnsrig.errors import InputError
from dnsrig.key_files import REVOKE_FLAG

State = Literal["signs", "published", "inactive", "revoked", "waiting", "deleted", "unused"]
_NEVER_S = 2**63
_SIGNED = {"key": "the DNSKEY RRset", "zone": "all but the DNSKEY RRset"}


@dataclass(frozen=True, slots=True)
class KeyState:
    """A key, and what became of it in a signing.

    `signs` has `key` for the DNSKEY RRset and `zone` for all else. `since_s` is the time that made it inactive, revoked
    or deleted, `until_s` that at which a published key begins to sign, an inactive one leaves the zone, or one that
    waits is published; in seconds since 1970. `tag` is the present one: that of a revoked key is another than its files
    have, unless these have the REVOKE flag already. `made_in` is the folder of the files of a key that was made for
    this signing.
    """

    file_name: str
    tag: int
    algorithm: str
    role: Literal["ksk", "zsk"]
    state: State
    signs: list[Literal["key", "zone"]]
    since_s: int | None
    until_s: int | None
    made_in: str | None

    @property
    def text(self) -> str:
        """The key in a line."""
        words = [
            self.role.upper(),
            self.algorithm,
            *([] if self.made_in is None else [f"new, its files are in {self.made_in}"]),
        ]
        since = "" if self.since_s is None else f" since {date_digits(self.since_s)}"
        until = "" if self.until_s is None else date_digits(self.until_s)
        match self.state:
            case "published":
                words.append(f"published only, signs from {until}" if until else "published only")
            case "inactive":
                words.append(f"published only, inactive{since}{f', leaves the zone at {until}' if until else ''}")
            case "revoked":
                has_other_tag = not self.file_name.endswith(f"+{self.tag:05}")
                words.append(f"revoked{since}{f', its tag is {self.tag} now' if has_other_tag else ''}")
            case "waiting":
                words.append(f"not published until {until}")
            case "deleted":
                words.append(f"deleted{since}")
            case "unused":
                words.append("has no time of publication, so it is not used")
            case "signs":
                pass
        if len(self.signs) == len(_SIGNED):
            words.append("signs everything")
        elif self.signs:
            words.append(f"signs {_SIGNED[self.signs[0]]}")
        return f"{self.file_name}: {', '.join(words)}"

    @property
    def facts(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def key_states(keys: _core.KeySet, signed: Mapping[str, Any], now_s: int, made_in: Path | None) -> list[KeyState]:
    """Say what each of `keys` did in a signing at `now_s` whose result is `signed` (of _core.sign_zone).

    `made_in` is the folder of new keys, of which all are where any is.
    """
    folder = None if made_in is None else str(made_in)
    return [_state(fact, signed, now_s, folder) for fact in keys.describe(now_s)]


def is_revoked(fact: Mapping[str, Any]) -> bool:
    """Whether a key is revoked at the time that `fact` (of KeySet.describe) is of: by its times, or by its flags."""
    has_flag = fact["flags"] & REVOKE_FLAG != 0
    return bool(fact["is_published"] if has_flag else fact["is_revoked"])


def _state(fact: Mapping[str, Any], signed: Mapping[str, Any], now_s: int, made_in: str | None) -> KeyState:
    timing: Mapping[str, int] = fact["timing"]
    revoked_name = f"{fact['file_name'].rpartition('+')[0]}+{fact['revoked_tag']:05}"
    signs_revoked = is_revoked(fact) and revoked_name in signed["keys"]
    name = revoked_name if signs_revoked else fact["file_name"]
    signs: list[Literal["key", "zone"]] = []
    if name in signed["key_signing_keys"] or signs_revoked:
        signs.append("key")
    if name in signed["zone_signing_keys"]:
        signs.append("zone")
    passed = {event: at for event, at in timing.items() if at <= now_s}
    since_s = until_s = None
    state: State
    if signs_revoked:
        state, since_s = "revoked", passed.get("Revoke")
    elif signs:
        state = "signs"
    elif name in signed["published_keys"]:
        state, since_s = ("inactive", passed["Inactive"]) if "Inactive" in passed else ("published", None)
        until_s = timing.get("Activate" if state == "published" else "Delete")
    elif "Delete" in passed:
        state, since_s = "deleted", passed["Delete"]
    else:
        until_s = timing.get("Publish", timing.get("Activate"))
        state = "unused" if until_s is None else "waiting"
    tag = fact["revoked_tag" if signs_revoked else "tag"]
    return KeyState(fact["file_name"], tag, fact["algorithm"], fact["role"], state, signs, since_s, until_s, made_in)


def doubts_of_named(keys: _core.KeySet, now_s: int) -> list[str]:
    """Say which keys sign and are published against their times, as all do that users name.

    Raises InputError for a key that is revoked by its times, as it would sign unrevoked.
    """
    said = []
    for fact in keys.describe(now_s):
        if fact["is_revoked"]:
            raise InputError(
                f"{fact['file_name']}: its time Revoke is {date_digits(fact['timing']['Revoke'])}, and keys that are "
                "named sign as they are; leave out KEYS so that it is revoked in the zone, or unset the time with "
                "dnsrig settime -R none"
            )
        if not fact["is_published"]:
            said.append(f"{fact['file_name']} is not to be published yet by its times, but is, as it is named")
        if is_revoked(fact):
            said.append(f"{fact['file_name']} has the REVOKE flag, so it signs the DNSKEY RRset alone")
    return said


@dataclass(frozen=True, slots=True)
class _Life:
    """When a key is in the zone and signs its data."""

    name: str
    role: str
    published_s: int
    begins_s: int
    ends_s: int
    deleted_s: int

    def signs_from_to(self, start_s: int, end_s: int) -> bool:
        return max(self.begins_s, self.published_s) <= start_s and end_s <= self.ends_s


def _life(fact: Mapping[str, Any]) -> _Life:
    timing: Mapping[str, int] = fact["timing"]
    begins_s = timing.get("Activate", _NEVER_S if timing else 0)
    deleted_s = timing.get("Delete", _NEVER_S)
    return _Life(
        name=fact["file_name"],
        role=fact["role"],
        published_s=timing.get("Publish", begins_s),
        begins_s=begins_s,
        ends_s=min(timing.get("Inactive", _NEVER_S), timing.get("Revoke", _NEVER_S), deleted_s),
        deleted_s=deleted_s,
    )


def timing_warnings(keys: _core.KeySet, now_s: int, dnskey_ttl_s: int, ttl_max_s: int) -> list[str]:
    """Say which keys begin to sign the zone's data, or leave the zone, sooner than what resolvers have cached allows.

    `dnskey_ttl_s` is how long they have DNSKEY RRsets without a new key, `ttl_max_s` how long signatures by an old one:
    the longest TTL in the zone (RFC 6781 section 4.1.1, RFC 7583 section 3.2). What is over is not told.
    """
    facts = keys.describe()
    said = []
    for algorithm in dict.fromkeys(fact["algorithm"] for fact in facts):
        lives = [_life(fact) for fact in facts if fact["algorithm"] == algorithm]
        # These sign the zone's data; of an algorithm without zone-signing keys the others do.
        signers = [life for life in lives if life.role == "zsk"] or lives
        for life in signers:
            said += _too_early(life, lives, signers, now_s, dnskey_ttl_s)
            said += _too_soon_gone(life, signers, now_s, ttl_max_s)
    return said


def _too_early(
    life: _Life, lives: Sequence[_Life], signers: Sequence[_Life], now_s: int, dnskey_ttl_s: int
) -> list[str]:
    known_s = life.published_s + dnskey_ttl_s
    if now_s >= known_s or life.begins_s >= known_s or life.ends_s <= life.begins_s:
        return []

    def was_there(other: _Life) -> bool:
        # Keys that are made for a new zone come one after another; a key-signing key that signed all came long before.
        ahead_s = 0 if other.role == life.role else dnskey_ttl_s
        return other.published_s + ahead_s < life.published_s < other.deleted_s

    if not any(was_there(other) for other in lives if other is not life):
        return []
    start_s = max(life.begins_s, life.published_s)
    if any(was_there(other) and other.signs_from_to(start_s, known_s) for other in signers if other is not life):
        return []
    return [
        f"{life.name} signs from {date_digits(life.begins_s)} on, but until {date_digits(known_s)} resolvers may have "
        f"DNSKEY records of before its publication (their TTL is {dnskey_ttl_s} s), and no earlier key signs until "
        "then; dnsrig settime changes that (RFC 6781 section 4.1.1)"
    ]


def _too_soon_gone(life: _Life, signers: Sequence[_Life], now_s: int, ttl_max_s: int) -> list[str]:
    gone_s = life.ends_s + ttl_max_s
    if life.deleted_s == _NEVER_S or now_s >= gone_s or life.deleted_s >= gone_s or life.begins_s >= life.ends_s:
        return []
    since_s = life.ends_s - ttl_max_s
    if any(other.signs_from_to(since_s, gone_s) for other in signers if other is not life):
        return []
    return [
        f"{life.name} leaves the zone at {date_digits(life.deleted_s)}, but until {date_digits(gone_s)} resolvers may "
        f"have signatures by it, which it makes until {date_digits(life.ends_s)} (the longest TTL is {ttl_max_s} s); "
        "dnsrig settime changes that (RFC 6781 section 4.1.1)"
    ]
