"""Finds the faults: every module beside this one that has a list FAULTS."""

import importlib
import pkgutil
from functools import cache

from dnsrig.errors import InputError
from dnsrig.verification import faults as package
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.item import Role


@cache
def all_faults() -> tuple[Fault, ...]:
    """Give the faults of all roles in the order of their names, which are all different."""
    found: dict[str, Fault] = {}
    for module in pkgutil.iter_modules(package.__path__):
        for fault in getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "FAULTS", ()):
            if found.setdefault(fault.name, fault) is not fault:
                raise ValueError(f"two faults are named {fault.name}")
    return tuple(found[name] for name in sorted(found))


def faults_of(role: Role) -> tuple[Fault, ...]:
    """Give the faults that something of this role can have."""
    return tuple(fault for fault in all_faults() if role in fault.roles)


def fault_named(name: str) -> Fault:
    """Give a fault.

    Raises:
        InputError: there is none of that name.

    """
    for fault in all_faults():
        if fault.name == name:
            return fault
    raise InputError(f"{name}: no such fault; known are {', '.join(fault.name for fault in all_faults())}")
