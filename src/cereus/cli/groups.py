"""The options that commands share, as arguments of a command: one argument for each group.

A command that takes a `ColumnOptions` has the flags of all its fields, at that place of its help.
So all commands have the same options for columns, languages and files.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import wraps
from typing import Any, get_type_hints

import pyarrow as pa

from cereus.cli import inputs
from cereus.cli import options as opt
from cereus.limits import Limits
from cereus.query import Query
from cereus.sources import Files, Source
from cereus.stream import Stream


@dataclass(frozen=True)
class ColumnOptions:
    """Options for columns: their roles, and a condition on events."""

    type: opt.TypeColumn = None
    time: opt.TimeColumn = None
    key: opt.KeyColumns = None
    stream: opt.StreamColumn = None
    unit: opt.Unit = None
    where: opt.Where = None

    def described(self, schema: pa.Schema | None = None, *, typed: bool = True) -> Stream:
        """The stream. Without `--type` the type column is `type`; where the language is `typed`,
        the events must have it."""
        if typed and self.type is None and schema is not None:
            inputs.need_types(schema)
        return Stream(
            type=inputs.column_or_none(self.type or inputs.DEFAULT_TYPE),
            time=inputs.column_or_none(self.time),
            keys=tuple(self.key or ()),
            stream=inputs.column_or_none(self.stream),
            unit=self.unit,
            where=self.where,
        )


@dataclass(frozen=True)
class LanguageOptions:
    """Options for the language of a query, and its parameters."""

    dialect: opt.Dialect = None
    settings: opt.Settings = None
    param: opt.Params = None
    limit: opt.Limits = None

    @property
    def params(self) -> dict[str, Any]:
        return inputs.params_of(self.param or ())

    @property
    def limits(self) -> Limits:
        return inputs.limits_of(self.limit or ())


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files, if their names do not tell enough."""

    types: opt.Types = None
    as_text: opt.AsText = False
    format: opt.InputFormat = None
    header: opt.Header = None
    delimiter: opt.Delimiter = None
    null: opt.Nulls = None
    multiline: opt.Multiline = False
    time_format: opt.TimeFormat = None
    decimal: opt.Decimal = None
    compression: opt.Compression = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The typed options as arguments of `Files`."""
        given: dict[str, Any] = {
            "format": self.format,
            "types": inputs.types_of(self.types or ()),
            "header": self.header.split(",") if self.header else None,
            "delimiter": self.delimiter,
            "nulls": self.null,
            "multiline": self.multiline,
            "time_format": self.time_format,
            "decimal": self.decimal,
            "compression": self.compression,
        }
        typed = {name: value for name, value in given.items() if value}
        return typed | ({"infer": False} if self.as_text else {})

    def files(self, paths: Sequence[str]) -> Files:
        return Files(paths, **self.arguments)


GROUPS = (ColumnOptions, LanguageOptions, ReadOptions)


def is_given(group: ColumnOptions | LanguageOptions | ReadOptions) -> bool:
    """Whether any option of a group was typed."""
    return any(getattr(group, each.name) for each in fields(group))


# ---------------------------------------------------------------- what commands make of them


def query_and_events(
    argument: str,
    paths: Sequence[str],
    columns: ColumnOptions,
    language: LanguageOptions,
    reading: ReadOptions,
    *,
    sort: bool,
) -> tuple[Query, Source]:
    """The query of a command, and its events. Errors in the text come before anything is read."""
    query_of(argument, columns, language, None)
    read = inputs.events_of(reading.files(paths), inputs.ordered_by(columns.time), sort=sort)
    return query_of(argument, columns, language, read.schema), read


def query_of(
    argument: str, columns: ColumnOptions, language: LanguageOptions, schema: pa.Schema | None
) -> Query:
    """The query of a command, compiled with its options; `schema` is that of its events."""
    text = inputs.written(argument)
    typed = inputs.is_typed(text, language.dialect)
    return inputs.compiled(
        text,
        language.dialect,
        columns.described(schema, typed=typed),
        schema,
        language.settings,
        language.limits,
        language.params,
    )


# ---------------------------------------------------------------- groups as flags


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every field of its groups as a parameter, which is what typer reads."""
    hints = get_type_hints(command, include_extras=True)
    places = {name: kind for name, kind in hints.items() if kind in GROUPS}

    @wraps(command)
    def called(**given: Any) -> None:
        for name, kind in places.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        command(**given)

    parameters = list(_parameters(command, hints, places))
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return called


def _parameters(command: Callable[..., None], hints: dict[str, Any], places: dict[str, Any]) -> Any:
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name not in places:
            kind = inspect.Parameter.KEYWORD_ONLY
            yield parameter.replace(annotation=hints[parameter.name], kind=kind)
            continue
        group = places[parameter.name]
        of_fields = get_type_hints(group, include_extras=True)
        for each in fields(group):
            yield _parameter(each, of_fields[each.name])


def _parameter(each: Field[Any], hint: Any) -> inspect.Parameter:
    assert each.default is not MISSING, "every option of a group may be left out"
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(each.name, kind, default=each.default, annotation=hint)
