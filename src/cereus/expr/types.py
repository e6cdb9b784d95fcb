"""The kinds of values in conditions, and the kinds of columns and literals.

Every stage uses this one vocabulary: the checker, the evaluators over Python, Arrow and Spark
values, and the kernel's terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

import pyarrow as pa

from cereus.errors import UnknownNameError, did_you_mean, nearest, shortened
from cereus.expr import tree as ex
from cereus.expr.paths import fields_of, type_at


class Kind(StrEnum):
    """The kind of a value. NUMBER and ANY are families: signatures and messages use them."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "int"
    FLOAT = "float"
    DECIMAL = "decimal"
    STRING = "string"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    OTHER = "other"
    """A list, a map, a struct: only IS NULL is possible."""
    NUMBER = "number"
    ANY = "any"

    @property
    def family(self) -> Kind:
        """The family, which decides if two values can be compared: NUMBER for every number."""
        return _FAMILIES.get(self, self)


NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL})
"""The kinds of numbers; the later one of two decides how they are computed."""
_FAMILIES = dict.fromkeys(NUMBERS, Kind.NUMBER) | {Kind.NULL: Kind.ANY}


def kind_of(type_: pa.DataType) -> Kind:
    """The kind of a column's values."""
    types = pa.types
    if types.is_dictionary(type_) or types.is_run_end_encoded(type_):
        return kind_of(type_.value_type)
    if types.is_integer(type_):
        return Kind.INTEGER
    if types.is_floating(type_):
        return Kind.FLOAT
    if types.is_decimal(type_):
        return Kind.DECIMAL
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return Kind.STRING
    if types.is_boolean(type_):
        return Kind.BOOLEAN
    if types.is_timestamp(type_) or types.is_date(type_):
        return Kind.TIMESTAMP
    if types.is_duration(type_):
        return Kind.INTERVAL
    return Kind.NULL if types.is_null(type_) else Kind.OTHER


def literal_kind(value: object) -> Kind:
    """The kind of a literal; an integer that does not fit 64 bits is a double."""
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, int):
        return Kind.INTEGER if -(2**63) <= value < 2**63 else Kind.FLOAT
    classes = {float: Kind.FLOAT, str: Kind.STRING}
    classes |= {datetime: Kind.TIMESTAMP, timedelta: Kind.INTERVAL}
    return next((kind for each, kind in classes.items() if isinstance(value, each)), Kind.NULL)


def joined(kinds: Iterable[Kind]) -> Kind | None:
    """The common kind of alternative values, as in CASE; None if they do not fit. Numbers become
    doubles if one of them is, else decimals if one of them is."""
    known = set(kinds) - {Kind.NULL}
    if len(known) <= 1:
        return next(iter(known), Kind.NULL)
    if known <= NUMBERS:
        return Kind.FLOAT if Kind.FLOAT in known else Kind.DECIMAL
    return None


def computed(kinds: Iterable[Kind]) -> Kind:
    """The kind of a number that is computed from others: exact for integers, else a double."""
    known = set(kinds)
    if Kind.NULL in known:
        return Kind.NULL
    return Kind.INTEGER if known == {Kind.INTEGER} else Kind.FLOAT


MOST_FIELDS = 3


def column_type(node: ex.Expression, path: tuple[str, ...], schema: pa.Schema) -> pa.DataType:
    """The type of the column, or of the field of a struct column, that `path` names."""
    type_ = type_at(schema, path)
    if type_ is None:
        raise _unknown(node, path, schema)
    return type_


def _unknown(node: ex.Expression, path: tuple[str, ...], schema: pa.Schema) -> UnknownNameError:
    """The error for the first unknown name on the path."""
    depth = next(n for n in range(1, len(path) + 1) if type_at(schema, path[:n]) is None)
    path, known = path[:depth], fields_of(type_at(schema, path[: depth - 1]))
    name = shortened(".".join(path))
    if not known and len(path) > 1:
        return UnknownNameError(
            f"{shortened('.'.join(path[:-1]))!r} has no fields, so {name!r} is unknown",
            span=node.span,
            hint="leave out what follows the dot",
        )
    hint = _field_called(path[0], schema) if depth == 1 else _field_near(path, list(known))
    return UnknownNameError(
        f"unknown attribute {name!r}",
        span=node.span,
        hint=hint or did_you_mean(path[-1], known),
    )


def _field_near(path: tuple[str, ...], known: list[str]) -> str | None:
    """A hint at the field whose name is nearest, with the names before it."""
    near = nearest(path[-1], sorted(known))
    return None if near is None else f"did you mean {'.'.join((*path[:-1], near))!r}?"


def _field_called(name: str, schema: pa.Schema) -> str | None:
    """A hint at struct columns that have a field of this name."""
    every = [f"{each.name}.{name}" for each in schema if name in fields_of(each.type)]
    return f"did you mean {' or '.join(map(repr, every[:MOST_FIELDS]))}?" if every else None
