"""The signers by name."""

import difflib
from collections.abc import Sequence

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.studies.signing.signers.base import Signer
from dnsrig.studies.signing.signers.bind import Bind
from dnsrig.studies.signing.signers.dnsrig import Dnsrig
from dnsrig.studies.signing.signers.dnst import Dnst
from dnsrig.studies.signing.signers.knot import Knot
from dnsrig.studies.signing.signers.ldns import Ldns

SIGNERS: tuple[type[Signer], ...] = (Dnsrig, Bind, Ldns, Knot, Dnst)
USUAL = (Dnsrig, Bind, Ldns, Knot)
"""Signers whose absence is worth a word: Debian has them."""


def signer(name: str) -> type[Signer]:
    """Give the signer called `name`; raise InputError with the nearest name if there is none."""
    by_name = {kind.name: kind for kind in SIGNERS}
    if name in by_name:
        return by_name[name]
    nearest = difflib.get_close_matches(name, by_name, n=1, cutoff=0.4)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are: {', '.join(by_name)}"
    raise InputError(f"no signer is called '{name}'; {hint}")


def installed() -> tuple[str, ...]:
    """Name the signers on this machine."""
    return tuple(kind.name for kind in SIGNERS if kind.find() is not None)


def require(names: Sequence[str]) -> None:
    """Raise InputError for an unknown signer, EnvironmentLacksError (with the package) for a missing one."""
    missing = [kind for kind in map(signer, dict.fromkeys(names)) if kind.find() is None]
    if missing:
        names = ", ".join(kind.title for kind in missing)
        how = "; ".join(kind.how_to_install() for kind in missing)
        raise EnvironmentLacksError(f"not installed: {names}; {how}; or leave them out of --signer")
