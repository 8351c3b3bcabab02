"""Internets that differ from a profile's in who signs, and with what."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from dnsrig import _core
from dnsrig.dates import DAY_S
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_text
from dnsrig.studies.resolving.cases import TREE
from dnsrig.studies.resolving.memory import LEAST_MIB
from dnsrig.studies.resolving.settings import MIB, ResolverStudySettings

_FEW = 0.001
"""Share of signed zones below the top-level domains in 2010, the year in which the root was signed: our estimate. Of
com, net and org 0.022 % were (The Measurement Factory, DNS Survey: October 2010); registries that promoted it had more.
"""
_FEW_TLDS = 0.1
"""Share of signed ones among the top-level domains that a profile does not name: our estimate."""
SIGNED_TLDS_2010 = frozenset({"br", "cz", "fr", "jp", "net", "nl", "org", "se", "uk"})
"""Those of a profile's named top-level domains that had a DS record in the root zone at the end of 2010.

Published: org was signed, net (December 2010) and com, which is not among them (March 2011; Verisign, "DNSSEC
Timeline", https://www.verisign.com/en_US/domain-names/dnssec/index.xhtml; blogs.infoblox.com, "Survey says: the 2010
edition"); nl was signed, its key to be in the root within weeks (SIDN, domainnews.com). For br, cz, fr, jp, se and uk,
and for cn, de and ru being unsigned, no publication is at hand: our recollection of what registries announced.
"""

KEYS_OF_UNSIGNED = {"algorithm": "ECDSAP256SHA256", "denial": "nsec"}
"""How a registry signs that has no keys by its profile, where everything is to be signed."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

Profile = dict[str, Any]


def _sign(profile: Profile, domains: float, tlds: float) -> None:
    """Set the share of signed domains below each registry, and of signed ones among the unnamed registries."""
    for part in (*profile["tld"], profile["other_tlds"], *_reverse(profile)):
        part["signed_share"] = domains
    profile["other_tlds"]["signed_tlds"] = tlds


def _unsign_registries(profile: Profile, kept: frozenset[str]) -> None:
    """Take the keys of registries away but for those kept; the root has its own, as a trust anchor needs them."""
    unsigned = [tld for tld in profile["tld"] if tld["name"] not in kept]
    for part in (*unsigned, *_reverse(profile)):
        part["registry"].pop("algorithm", None)
        # DS records of domains are of no use in a zone that has no signatures.
        part["signed_share"] = 0.0


def _registries(profile: Profile) -> list[Profile]:
    return [part["registry"] for part in (*profile["tld"], profile["other_tlds"], *_reverse(profile))]


def _reverse(profile: Profile) -> list[Profile]:
    return [profile["reverse"]] if "reverse" in profile else []


def _have_edns(profile: Profile) -> None:
    """Have all servers know EDNS: a signed zone behind one that does not is bogus to whoever validates."""
    faults = profile.get("faults", {})
    faults.update(dict.fromkeys(faults.keys() & {"edns_formerr_share", "edns_ignored_share"}, 0.0))


def _unsigned(profile: Profile) -> None:
    _have_edns(profile)
    _sign(profile, 0.0, 0.0)
    _unsign_registries(profile, frozenset())


def _in_2010(profile: Profile) -> None:
    _sign(profile, _FEW, _FEW_TLDS)
    _unsign_registries(profile, SIGNED_TLDS_2010)


def _all(profile: Profile) -> None:
    _have_edns(profile)
    _sign(profile, 1.0, 1.0)
    for registry in _registries(profile):
        if "algorithm" not in registry:
            registry.update(KEYS_OF_UNSIGNED)
    profile["signing"]["without_ds_share"] = 0.0


def _all_with(algorithm: str, profile: Profile, **signing: Any) -> None:  # noqa: ANN401 (values of TOML)
    """Sign everything with one algorithm; each zone has two keys. `signing` is what else is set there."""
    _all(profile)
    for registry in (profile["root"], *_registries(profile)):
        registry["algorithm"] = algorithm
    profile["signing"] |= {
        "algorithms": [{"algorithm": algorithm, "weight": 1}],
        "single_key_share": 0.0,
        **signing,
    }


def _send_large(profile: Profile) -> None:
    """Have the servers of domains send up to 4096 octets by UDP but for those that never send more than 512."""
    faults = profile.setdefault("faults", {})
    faults["udp_4096_share"] = 1.0 - faults.get("udp_512_share", 0.0)


UNSIGNED, IN_2010, ALL = "unsigned", "2010", "all"
CHANGES: Mapping[str, Callable[[Profile], None]] = {
    TREE: lambda profile: None,
    UNSIGNED: _unsigned,
    IN_2010: _in_2010,
    ALL: _all,
    "rsa-1024": partial(_all_with, "RSASHA256", rsa_zsk_bits=1024),
    "rsa-2048": partial(_all_with, "RSASHA256", rsa_zsk_bits=2048),
    "p-256": partial(_all_with, "ECDSAP256SHA256"),
}
"""What is changed in a profile, by name of the Internet."""


def changed_text(text: str, tree: str, source: str, *, is_large: bool = False) -> str:
    """Give the text of a profile with what is changed for an Internet; `source` is where the text is from.

    With `is_large` servers send large answers by UDP to those who offer to take them.

    Raises:
        InputError: it is no TOML.

    """
    if tree == TREE and not is_large:
        return text
    profile = read_profile(text, source)
    try:
        CHANGES[tree](profile)
        if is_large:
            _send_large(profile)
    except (AttributeError, KeyError, TypeError):
        # It lacks what a profile has; who reads it says what that is.
        return text
    return "".join(_lines(profile))


def read_profile(text: str, source: str) -> Profile:
    """Give what a profile's text says; `source` is where it is from.

    Raises:
        InputError: it is no TOML.

    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: the profile of the Internet is no TOML: {error}") from error


def _lines(profile: Profile) -> list[str]:
    """Write a profile as TOML (v1.0.0): first what has one value, then a table or an array of tables for each part."""
    parts = {key: value for key, value in profile.items() if _is_part(value)}
    lines = [f"{_key(key)} = {_value(value)}\n" for key, value in profile.items() if key not in parts]
    for key, tables in parts.items():
        header = f"[{_key(key)}]" if isinstance(tables, dict) else f"[[{_key(key)}]]"
        for table in [tables] if isinstance(tables, dict) else tables:
            lines += [f"\n{header}\n", *(f"{_key(name)} = {_value(value)}\n" for name, value in table.items())]
    return lines


def _is_part(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    )


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    """Write a value on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    # JSON's escapes are some of TOML's.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def profile_path(run: RunFolder, tree: str) -> Path:
    """Say where a run keeps the profile that one of its Internets is made of."""
    return run.path / "inputs" / f"internet-{tree.replace(' ', '-')}.toml"


def check_profile(settings: ResolverStudySettings) -> None:
    """Refuse a profile of which no Internet can be made, before a run is begun for it.

    Raises:
        InputError: the profile cannot be read, or is none, or has too few or too many domains.

    """
    _core.Internet(
        settings.profile, seed=settings.seed, signed_at_s=0, domains=settings.domains, distances=settings.distances
    )


def make_internet(
    settings: ResolverStudySettings, tree: str, run: RunFolder, memory_mib: int = LEAST_MIB
) -> _core.Internet:
    """Make one of the Internets of a run; the profile that it is made of is kept among the run's inputs.

    Its zones, signatures and answers may take `memory_mib`.

    Raises:
        InputError: the profile cannot be read, or is none.

    """
    path = profile_path(run, tree)
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        text = _core.Internet.profile_text(settings.profile)
        write_text(path, changed_text(text, tree, settings.profile, is_large=settings.udp_size is not None))
    # Also one that was there: the run may have been broken off in between.
    run.add_input(path)
    # A run that is resumed on another day has the same signatures.
    began = datetime.fromisoformat(run.manifest()["started"])
    internet = _core.Internet(
        str(path),
        seed=settings.seed,
        signed_at_s=int(began.timestamp()) // DAY_S * DAY_S,
        domains=settings.domains,
        memory_octets=memory_mib * MIB,
        distances=settings.distances,
    )
    internet.prepare()
    return internet
