"""The studies by name."""

import difflib
from typing import Any

from dnsrig.errors import InputError
from dnsrig.studies.base import Study
from dnsrig.studies.cold_start import ColdStart
from dnsrig.studies.denial_cost import DenialCost
from dnsrig.studies.encrypted_cost import EncryptedCost
from dnsrig.studies.full_cache import FullCache
from dnsrig.studies.functionality.study import Functionality
from dnsrig.studies.nsec3_iterations import Nsec3Iterations
from dnsrig.studies.resolver_cost import ResolverCost
from dnsrig.studies.resolver_matrix import ResolverMatrix
from dnsrig.studies.signing.study import Signing
from dnsrig.studies.validation_cost import ValidationCost

_STUDIES: tuple[type[Study[Any]], ...] = (
    DenialCost,
    Nsec3Iterations,
    EncryptedCost,
    Signing,
    Functionality,
    ValidationCost,
    ResolverCost,
    ResolverMatrix,
    ColdStart,
    FullCache,
)


def studies() -> list[Study[Any]]:
    """List every study."""
    return [study() for study in _STUDIES]


def study(name: str) -> Study[Any]:
    """Give the study called `name`; raise InputError with the nearest name if there is none."""
    by_name = {found.name: found for found in studies()}
    if name in by_name:
        return by_name[name]
    nearest = difflib.get_close_matches(name, by_name, n=1, cutoff=0.4)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are: {', '.join(by_name)}"
    raise InputError(f"no study is called '{name}'; {hint} (dnsrig studies lists them)")
