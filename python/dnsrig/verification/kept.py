"""What is worked out once, by whichever thread asks first: properties, and values by names."""

import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")
LOCK = "_lock"
"""The attribute with an object's lock; it gets one if it has none."""


class kept_property(Generic[Value]):  # noqa: N801 (a decorator, named as property is)
    """A property that asks servers once; every object has a lock of its own.

    functools.cached_property has one for all objects of a class until Python 3.12: zones that are verified at the same
    time would wait for each other, and two that need two properties in different order for ever.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Value:
        if instance is None:
            return self
        attributes = instance.__dict__
        if self._name not in attributes:
            # setdefault is atomic: two threads get the same lock.
            with attributes.setdefault(LOCK, threading.RLock()):
                if self._name not in attributes:
                    attributes[self._name] = self._make(instance)
        value: Value = attributes[self._name]
        return value


class Kept:
    """Values by name, each worked out once, by whichever thread asks first.

    Each name has a lock of its own: what is worked out may take values of other names, and other threads take those
    meanwhile. It must not need its own name, in another thread least of all.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._locks: dict[str, threading.RLock] = {}

    def once(self, what: str, make: Callable[[], Value]) -> Value:
        """Give the value of a name, made by the first that asks for it."""
        if what not in self._values:
            # setdefault is atomic: two threads get the same lock.
            with self._locks.setdefault(what, threading.RLock()):
                if what not in self._values:
                    self._values[what] = make()
        value: Value = self._values[what]
        return value
