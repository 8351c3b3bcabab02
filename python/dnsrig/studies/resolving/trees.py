"""Internets that differ from a profile's in who signs, and with what."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving.cases import TREE
from dnsrig.studies.resolving.settings import MIB, ResolverStudySettings

DAY_S = 86_400
_ALGORITHM = re.compile(r'\balgorithm = "[A-Z0-9]+"')
_SIGNED_SHARE = re.compile(r"\bsigned_share = [0-9._]+")
_SIGNED_TLDS = re.compile(r"\bsigned_tlds = [0-9._]+")
_SINGLE_KEY = re.compile(r"\bsingle_key_share = [0-9._]+")
_WITHOUT_DS = re.compile(r"\bwithout_ds_share = [0-9._]+")
_FEW = 0.001
"""Share of signed zones below the top-level domains in 2010, the year in which the root was signed: an estimate."""
_FEW_TLDS = 0.1


def _signed(domains: float, tlds: float) -> Callable[[str], str]:
    def change(text: str) -> str:
        text = _SIGNED_TLDS.sub(f"signed_tlds = {tlds}", _SIGNED_SHARE.sub(f"signed_share = {domains}", text))
        return _WITHOUT_DS.sub("without_ds_share = 0.0", text) if domains == 1 else text

    return change


def _all_with(algorithm: str, single_keys: float = 0.0) -> Callable[[str], str]:
    def change(text: str) -> str:
        text = _signed(1.0, 1.0)(_ALGORITHM.sub(f'algorithm = "{algorithm}"', text))
        return _SINGLE_KEY.sub(f"single_key_share = {single_keys}", text)

    return change


UNSIGNED, IN_2010, ALL = "unsigned", "2010", "all"
CHANGES: Mapping[str, Callable[[str], str]] = {
    TREE: lambda text: text,
    UNSIGNED: _signed(0.0, 0.0),
    IN_2010: _signed(_FEW, _FEW_TLDS),
    ALL: _signed(1.0, 1.0),
    "rsa-1280": _all_with("RSASHA256"),
    "rsa-2048": _all_with("RSASHA256", single_keys=1.0),
    "p-256": _all_with("ECDSAP256SHA256"),
    "ed25519": _all_with("ED25519"),
}
"""What is changed in a profile's text, by name of the Internet."""


def make_internet(settings: ResolverStudySettings, tree: str, run: RunFolder) -> _core.Internet:
    """Make one of the Internets of a run; the profile that it is made of is kept among the run's inputs.

    Raises:
        InputError: the profile cannot be read, or is none.

    """
    path = run.path / "inputs" / f"internet-{tree.replace(' ', '-')}.toml"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(CHANGES[tree](profile_text(settings.profile)), encoding="utf-8")
        run.add_input(path)
    # A run that is resumed on another day has the same signatures.
    began = datetime.fromisoformat(run.manifest()["started"])
    internet = _core.Internet(
        str(path),
        seed=settings.seed,
        signed_at_s=int(began.timestamp()) // DAY_S * DAY_S,
        domains=settings.domains,
        memory_octets=settings.internet_memory_mib * MIB,
        distances=settings.distances,
    )
    internet.prepare()
    return internet


def profile_text(profile: str) -> str:
    """Give the text of a profile: a name, or a file that ends in `.toml`."""
    if not profile.endswith(".toml"):
        text: str = _core.Internet.profile_text(profile)
        return text
    try:
        return Path(profile).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{profile}: the profile of the Internet cannot be read: {error}") from error
