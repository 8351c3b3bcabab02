"""Finds the items."""

import importlib
import pkgutil
import re
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from dnsrig.errors import InputError
from dnsrig.verification.item import ROLES, Item, KnownItem, Role


@cache
def items(role: Role) -> tuple[KnownItem, ...]:
    """Give the items of a role in the order of their ids."""
    try:
        package = importlib.import_module(f"dnsrig.items.{role}")
    except ModuleNotFoundError:
        return ()
    found = [_known(module) for module in _modules(package)]
    return tuple(sorted(found, key=lambda known: _order(known.item.id)))


def all_items() -> Iterable[KnownItem]:
    """Give the items of all roles."""
    for role in ROLES:
        yield from items(role)


def chosen(role: Role, ids: Iterable[str], option: str = "--item") -> tuple[KnownItem, ...]:
    """Give the items with these ids, in the catalogue's order; upper and lower case are the same.

    `option` is where the user named them.

    Raises:
        InputError: there is no such item, or it is of another role.

    """
    wanted = {id_.lower(): id_ or "''" for id_ in ids}
    found = tuple(known for known in items(role) if known.item.id.lower() in wanted)
    missing = wanted.keys() - {known.item.id.lower() for known in found}
    if missing:
        first = min(missing)
        others = [known.item for known in all_items() if known.item.id.lower() == first]
        if others:
            raise InputError(
                f"{option} {wanted[first]}: it is an item of dnsrig verify {others[0].role}, not of {role} (--list)"
            )
        raise InputError(f"{option} {wanted[first]}: no such item; dnsrig verify {role} --list names them all")
    return found


def item_of_any_role(item_id: str, option: str) -> KnownItem:
    """Give the item with an id, whatever its role; upper and lower case are the same.

    Raises:
        InputError: there is none.

    """
    for known in all_items():
        if known.item.id.lower() == item_id.lower():
            return known
    raise InputError(f"{option} {item_id}: no such item; dnsrig verify --list names them all")


def _modules(package: ModuleType) -> Iterable[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__):
        if not found.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{found.name}")


def _known(module: ModuleType) -> KnownItem:
    item: Item = module.ITEM
    return KnownItem(item, module.check, module.__name__)


def _order(item_id: str) -> tuple[str, int, str]:
    """Sort A-9 before A-85, and numbers before words."""
    letter, _, rest = item_id.partition("-")
    number = re.match(r"\d+", rest)
    return letter, int(number.group()) if number else 10**6, rest
