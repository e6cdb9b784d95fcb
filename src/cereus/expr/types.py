"""From Arrow types to the kinds that conditions know, and from paths to columns."""

from __future__ import annotations

import pyarrow as pa

from cereus.errors import UnknownNameError, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.functions import Kind


def kind_of(type_: pa.DataType) -> Kind | None:
    """The kind of a column's values; None for types that conditions cannot compare."""
    types = pa.types
    if types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return Kind.NUMBER
    if types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_):
        return Kind.STRING
    if types.is_boolean(type_):
        return Kind.BOOLEAN
    if types.is_timestamp(type_) or types.is_date(type_):
        return Kind.TIMESTAMP
    if types.is_duration(type_):
        return Kind.INTERVAL
    return Kind.ANY if types.is_null(type_) else None


def literal_kind(value: ex.LiteralValue) -> Kind:
    """The kind of a literal; NULL fits anything."""
    if value is None:
        return Kind.ANY
    if isinstance(value, bool):
        return Kind.BOOLEAN
    names = {"int": Kind.NUMBER, "float": Kind.NUMBER, "str": Kind.STRING}
    names |= {"datetime": Kind.TIMESTAMP, "timedelta": Kind.INTERVAL}
    return names[type(value).__name__]


def column_type(node: ex.Expression, path: tuple[str, ...], schema: pa.Schema) -> pa.DataType:
    """The type of the column, or of the field of a struct column, that `path` names."""
    fields = {field.name: field.type for field in schema}
    for depth, name in enumerate(path):
        if name not in fields:
            raise _unknown(node, path[: depth + 1], list(fields))
        type_ = fields[name]
        fields = {f.name: f.type for f in type_} if pa.types.is_struct(type_) else {}
    return type_


def _unknown(node: ex.Expression, path: tuple[str, ...], known: list[str]) -> UnknownNameError:
    name = ".".join(path)
    if not known:
        return UnknownNameError(
            f"{'.'.join(path[:-1])!r} has no fields, so {name!r} is unknown", span=node.span
        )
    return UnknownNameError(
        f"unknown attribute {name!r}", span=node.span, hint=did_you_mean(path[-1], known)
    )
