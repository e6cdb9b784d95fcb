"""Parameters: `:symbol` in a text stands for a value that is given separately.

A value becomes a literal of the tree while the text is parsed, never a part of the text: so nothing
in it can be read as anything else. A list can stand where a list of values can, after IN.
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

from cereus.errors import CereusError, QueryError, QuerySyntaxError, did_you_mean, shortened
from cereus.syntax.literals import fits_int64

ONE, LIST = "PARAMETER", "PARAMETER_LIST"
"""The terminals of `expr/grammar.lark`: a parameter is read as the first, and becomes the second if
it is a list."""
VALUES = "texts, numbers, booleans, None, datetimes, dates, timedeltas, and lists of these"


class SharedValues(dict[str, Any]):
    """Values that several texts share: a text need not use all of them."""


class Parameters:
    """The given values, and which of them the text has used."""

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        self.shared = isinstance(given, SharedValues)
        self.given = {name: value_of(name, value) for name, value in by_name(given).items()}
        self.used: set[str] = set()

    def put(self, token: Token, expected: Iterable[str]) -> None:
        """Give a token of the text its value, if it is a parameter; a list has its own terminal,
        which must be `expected` here."""
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

    def check_all_used(self) -> None:
        """Refuse a parameter that the text does not name."""
        for name in self.given:
            if name not in self.used and not self.shared:
                raise QueryError(
                    f"the text has no parameter :{name}",
                    hint=_meant(name, self.used) or f"write :{name} for its value",
                )


def by_name(given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The given parameters; a collection without names is refused."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise CereusError(
            f"parameters are given by name, not as a {type(given).__name__}",
            hint='write params={"limit": 5}',
        )
    for name in given:
        if not isinstance(name, str):
            raise CereusError(
                f"the name of a parameter is a text, not a {type(name).__name__}",
                hint='write params={"limit": 5}',
            )
    return given


def _meant(name: str, known: Iterable[str]) -> str | None:
    """The name that is near, if one is."""
    hint = did_you_mean(name, sorted(known))
    return hint if hint and hint.startswith("did you mean") else None


_PARTS = re.compile(
    r"""--[^\n]*+|/\*.*?(?:\*/|\Z)|'(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|`(?:[^`]++|``)*+`"""
    r"""|:([^\W\d]\w*)""",
    re.DOTALL,
)
"""The parts of a text, each read once: a comment that is not closed takes all that follows."""


def for_text(params: Mapping[str, Any], text: object) -> SharedValues:
    """The parameters that a text seems to mention: several texts may share parameters, and `A:B` of
    one has a type where another has the parameter `:B`."""
    mentioned = _mentioned(text)
    return SharedValues({name: value for name, value in params.items() if name in mentioned})


def _mentioned(text: object) -> set[str]:
    return (
        {each[1] for each in _PARTS.finditer(text) if each[1]} if isinstance(text, str) else set()
    )


def check_all_mentioned(params: Mapping[str, Any], texts: Iterable[object]) -> None:
    """Check that each parameter is in at least one of the texts."""
    if not by_name(params):
        return
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
        items = [_single(name, item) for item in value]
        return tuple(sorted(items, key=repr) if isinstance(value, set | frozenset) else items)
    return _single(name, value)


def refuse_surrogates(text: str, what: str) -> None:
    """Refuse half a letter, which no file and no column can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CereusError(
            f"{what} holds half a letter, {text[error.start]!r}, at {error.start}",
            hint="decode the text with its own encoding",
        ) from None


def _single(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = _of_numpy(value)
    match value:
        case None | bool():
            return value
        case timedelta():
            return _length(name, value)
        case str():
            refuse_surrogates(value, f"the parameter :{name}")
            return str(value)
        case int():
            return _integer(name, int(value))
        case float():
            return _number(name, float(value))
        case Decimal():
            return _decimal(name, value)
        case datetime() if value == value:  # NaT is not a time
            return datetime.combine(value.date(), value.timetz())
        case date() if value == value:
            return datetime.combine(value, time())
    raise CereusError(
        f"the parameter :{name} is of the type {type(value).__name__}", hint=f"there are {VALUES}"
    )


def _of_numpy(value: np.generic) -> Any:
    """A value of numpy as a Python value; times of nanoseconds would be numbers."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit = "datetime64[us]" if isinstance(value, np.datetime64) else "timedelta64[us]"
        try:
            exact = value.astype(unit)
            plain = exact.item()
            return plain if exact == value and not isinstance(plain, int) else value
        except TypeError:  # a year is not a fixed length of time
            return value
    return value.item()


def _length(name: str, value: timedelta) -> timedelta:
    if value == value and fits_int64(value // timedelta(microseconds=1)):
        return value
    raise CereusError(
        f"the parameter :{name} is no length of time that can be compared",
        hint="at most 292,000 years can be compared",
    )


def _integer(name: str, value: int) -> int:
    if fits_int64(value):
        return value
    shown = str(value) if abs(value) < 10**40 else "…"  # thousands of digits are not written
    raise CereusError(
        f"the parameter :{name} does not fit in 64 bits",
        hint=f"give a double, float({shown}) (16 digits), or read the column as text: '{shown}'",
    )


def _number(name: str, value: float) -> float:
    if math.isfinite(value):
        return value
    raise CereusError(f"the parameter :{name} is {value}", hint="give a finite number")


def _decimal(name: str, value: Decimal) -> int | float:
    """A decimal as an integer or a double, if that is exact; otherwise it is refused."""
    if value.is_finite() and value.adjusted() > 40:  # not written out: it may have any length
        return _integer(name, 10**40)
    if value.is_finite() and value == value.to_integral_value():
        return _integer(name, int(value))
    if value.is_finite() and Decimal(float(value)) == value:
        return float(value)
    raise CereusError(
        f"the parameter :{name} has no exact double: {shortened(str(value))}",
        hint=f"give float('{shortened(str(value))}')",
    )
