"""Parameters: `:symbol` in a text stands for a value that is given beside it.

A value becomes a literal of the tree while the text is parsed, never a part of the text: nothing
that it holds can be read as anything else. A list stands where a list of values can, after IN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from lark import Token

from cereus.errors import CereusError, QueryError, QuerySyntaxError, did_you_mean
from cereus.syntax.literals import fits_int64

ONE, LIST = "PARAMETER", "PARAMETER_LIST"
"""The terminals of `expr/grammar.lark`: the first is read, and is the second if it is a list."""
VALUES = "texts, numbers, booleans, None, datetimes, dates, timedeltas, and lists of these"


class SharedValues(dict[str, Any]):
    """Values that several texts share: a text need not use all of them."""


class Parameters:
    """The values that are given, and which of them the text has used."""

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        self.shared = isinstance(given, SharedValues)
        if given is not None and not isinstance(given, Mapping):
            raise CereusError(
                f"parameters are given by name, not as a {type(given).__name__}",
                hint='write params={"limit": 5}',
            )
        self.given = {name: value_of(name, value) for name, value in (given or {}).items()}
        self.used: set[str] = set()

    def put(self, token: Token, expected: Iterable[str]) -> None:
        """Give a token of the text its value, if it is a parameter; a list has its own terminal,
        which has to be `expected` here."""
        if not token.type.endswith(ONE):
            return
        name = token[1:]
        start = token.start_pos or 0
        if name not in self.given:
            raise QuerySyntaxError(
                f"the parameter {token} has no value",
                span=(start, start + len(token)),
                hint=_meant(name, self.given) or f'give it: params={{"{name}": …}}',
            )
        self.used.add(name)
        token.value = self.given[name]
        if isinstance(token.value, tuple):
            token.type = next((each for each in expected if each.endswith(LIST)), LIST)

    def check_all_used(self, text: str) -> None:
        for name in self.given:
            if name not in self.used and not self.shared:
                raise QueryError(
                    f"the text has no parameter :{name}",
                    hint=_meant(name, self.used) or f"write :{name} for its value",
                )


def _meant(name: str, known: Iterable[str]) -> str | None:
    """The name that is near, if one is."""
    hint = did_you_mean(name, sorted(known))
    return hint if hint and hint.startswith("did you mean") else None


_PARTS = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|:([^\W\d]\w*)""", re.DOTALL
)


def for_text(params: Mapping[str, Any], text: object) -> SharedValues:
    """Those of the parameters that a text seems to mention: several texts may share what is given,
    and `A:B` of one has a type where another has the parameter `:B`."""
    mentioned = _mentioned(text)
    return SharedValues({name: value for name, value in params.items() if name in mentioned})


def _mentioned(text: object) -> set[str]:
    return (
        {each[1] for each in _PARTS.finditer(text) if each[1]} if isinstance(text, str) else set()
    )


def check_all_mentioned(params: Mapping[str, Any], texts: Iterable[object]) -> None:
    """Each parameter is in one of the texts at least."""
    mentioned = {name for text in texts for name in _mentioned(text)}
    left = set(params) - mentioned
    if left:
        name = min(left)
        hint = _meant(name, mentioned) or "leave it out"
        raise CereusError(f"no text has the parameter :{name}", hint=hint)


def misplaced_list(token: Token) -> QuerySyntaxError:
    start = token.start_pos or 0
    return QuerySyntaxError(
        f"{token} is a list, and one value is needed here",
        span=(start, start + len(token)),
        hint=f"lists stand after IN: x IN {token}",
    )


def value_of(name: str, value: Any) -> Any:
    """The value of a literal, or a tuple of them for a list."""
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return tuple(_single(name, item) for item in items)
    return _single(name, value)


def _single(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case None | bool() | timedelta():
            return value
        case str():
            return str(value)
        case int():
            return _integer(name, int(value))
        case float():
            return _number(name, float(value))
        case Decimal():
            return _decimal(name, value)
        case datetime():
            return datetime.combine(value.date(), value.timetz())
        case date():
            return datetime.combine(value, time())
    raise CereusError(
        f"the parameter :{name} is of the type {type(value).__name__}", hint=f"there are {VALUES}"
    )


def _integer(name: str, value: int) -> int:
    if fits_int64(value):
        return value
    raise CereusError(
        f"the parameter :{name} does not fit in 64 bits", hint=f"give a double: float({value})"
    )


def _number(name: str, value: float) -> float:
    if math.isfinite(value):
        return value
    raise CereusError(f"the parameter :{name} is {value}", hint="give a finite number")


def _decimal(name: str, value: Decimal) -> int | float:
    """Exact, or refused: a literal is an integer or a double."""
    if value.is_finite() and value == value.to_integral_value():
        return _integer(name, int(value))
    if value.is_finite() and Decimal(float(value)) == value:
        return float(value)
    raise CereusError(
        f"the parameter :{name} has no exact double: {value}", hint=f"give float('{value}')"
    )
