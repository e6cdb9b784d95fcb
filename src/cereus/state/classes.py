"""The table of names for classes whose instances are part of a saved state.

A snapshot knows a class only by this name, never by its module: a class may move or be renamed, and
old snapshots are still read. So a name, once released, stays; and so do the order and number of its
fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)


class StateClass(NamedTuple):
    """A class of states: how many fields it has, how to read them from an instance, and how to make
    an instance from them."""

    name: str
    size: int
    fields_of: Callable[[Any], Iterable[Any]]
    made_of: Callable[..., Any]


BY_NAME: dict[str, StateClass] = {}
BY_CLASS: dict[type, StateClass] = {}


def state_class(name: str) -> Callable[[Class], Class]:
    """Give a NamedTuple or a dataclass its name in snapshots."""

    def register(cls: Class) -> Class:
        if dataclasses.is_dataclass(cls):
            names = [each.name for each in dataclasses.fields(cls)]
            _add(cls, StateClass(name, len(names), lambda it: [getattr(it, n) for n in names], cls))
        else:
            _add(cls, StateClass(name, len(cls._fields), tuple, cls))  # type: ignore[attr-defined]
        return cls

    return register


def state_class_of(
    cls: type, name: str, size: int, fields_of: Callable[[Any], Iterable[Any]], made_of: Any
) -> None:
    """Like `state_class`, for a class that is neither: `made_of(*fields_of(instance))` equals the
    instance."""
    _add(cls, StateClass(name, size, fields_of, made_of))


def _add(cls: type, entry: StateClass) -> None:
    known = BY_NAME.get(entry.name)
    if known is not None and BY_CLASS.get(cls) is not known:
        raise ValueError(f"two classes of states are called {entry.name!r}")
    BY_NAME[entry.name] = BY_CLASS[cls] = entry
