"""Finds the faults of data: every module beside this one that has a list ZONE_FAULTS."""

import importlib
import pkgutil
from functools import cache

from dnsrig.verification import faults as package
from dnsrig.verification.faults.zone_fault import ZoneFault


@cache
def zone_faults() -> tuple[ZoneFault, ...]:
    """Give the faults of data in the order of their names."""
    found: list[ZoneFault] = []
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("zone_"):
            found += getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "ZONE_FAULTS", ())
    return tuple(sorted(found, key=lambda fault: fault.name))
