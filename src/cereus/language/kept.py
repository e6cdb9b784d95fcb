"""Caches the results of a query's methods in the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

PREFIX = "_kept_"
Q = TypeVar("Q")
P = ParamSpec("P")
Made = TypeVar("Made")


def kept(method: Callable[Concatenate[Q, P], Made]) -> Callable[Concatenate[Q, P], Made]:
    """Decorate a method of a query so that its last result is returned again for the same
    arguments: most queries meet one schema only."""
    name = PREFIX + method.__name__

    @wraps(method)
    def once(self: Q, /, *given: P.args, **named: P.kwargs) -> Made:
        known = self.__dict__.get(name)
        if known is None or known[0] != (given, named):
            known = self.__dict__[name] = ((given, named), method(self, *given, **named))
        made: Made = known[1]
        return made

    return once


def without_kept(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a query without cached results, for a copy or another process."""
    return {name: value for name, value in state.items() if not name.startswith(PREFIX)}
