"""Tables of a TOML file → the classes of `spec`, with every wrong key, type and name noted."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cereus.errors import did_you_mean, nearest
from cereus.spark.pipeline import kinds, spec
from cereus.spark.pipeline.document import Document, Key
from cereus.spark.pipeline.sinks import spec as sink_spec

T = TypeVar("T")

WRONG = object()
"""Stands for a value that was refused; the problem is noted already."""

TOP = ("mode", "checkpoint", "watermark", "trigger", "metrics")
TABLES: dict[str, tuple[Any, ...]] = {
    "sources": spec.SOURCES,
    "streams": (spec.StreamOf,),
    "queries": (spec.QueryOf,),
    "rules": (spec.RuleFolder,),
    "sinks": sink_spec.SINKS,
}
"""Tables of tables, by name: the classes that one may be."""


def spec_of(document: Document) -> spec.Spec | None:
    """The file as a Spec; None if it has a problem, which `document` then knows."""
    reader = Reader(document)
    values = dict(document.values)
    named: dict[str, Any] = {name: reader.named(name, values.pop(name, {})) for name in TABLES}
    settings = reader.table(("spark",), values.pop("spark", {}), spec.SparkSettings)
    top = reader.fields((), values, spec.Spec, (*TABLES, "spark"))
    if document.problems or top is None or settings is None:
        return None
    return spec.Spec(**{**named, **top}, spark=settings)


class Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.home = document.path.absolute().parent

    def named(self, name: str, tables: Any) -> dict[str, Any]:
        """`[sources.a]`, `[sources.b]`, …"""
        if not isinstance(tables, dict):
            self.document.wrong((name,), f"tables are needed, as [{name}.some_name]")
            return {}
        return {each: self.one_of((name, each), table) for each, table in tables.items()}

    def one_of(self, key: Key, table: Any) -> Any:
        """A table of the class that its `format` names."""
        classes = TABLES[key[0]]
        if len(classes) == 1 or not isinstance(table, dict):
            return self.table(key, table, classes[0])
        by_format = {each: cls for cls in classes for each in cls.FORMATS}
        name = table.get("format")
        if name is None:
            self.document.wrong(key, "the key 'format' is missing", f"one of {_list(by_format)}")
            return None
        if not isinstance(name, str) or name not in by_format:
            hint = did_you_mean(str(name), by_format)
            self.document.wrong((*key, "format"), f"{name!r} is no known format", hint)
            return None
        return self.table(key, table, by_format[name])

    def table(self, key: Key, table: Any, cls: type[T]) -> T | None:
        if not isinstance(table, dict):
            self.document.wrong(key, f"a table is needed, not {_what(table)}")
            return None
        values = self.fields(key, table, cls)
        return None if values is None else cls(**values)

    def fields(
        self, key: Key, table: Mapping[str, Any], cls: Any, besides: tuple[str, ...] = ()
    ) -> dict[str, Any] | None:
        """The fields of a class that a table gives; None if one is wrong or missing."""
        hints = get_type_hints(cls)
        fields = {f.name.rstrip("_"): f for f in dataclasses.fields(cls) if f.name not in besides}
        values: dict[str, Any] = {}
        meant = ""
        for name, value in table.items():
            if name not in fields:
                known = (*fields, *besides)
                hint = _of_another_table(key, name, known) or did_you_mean(name, known) or ""
                self.document.wrong((*key, name), "this key is not known here", hint or None)
                meant += hint
                continue
            field = fields[name]
            values[field.name] = self.value((*key, name), value, hints[field.name])
        for name, field in fields.items():
            if field.name not in values and _required(field):
                values[field.name] = WRONG
                if repr(name) not in meant:  # it is misspelt, which has been reported
                    hint = _needed(hints[field.name])
                    self.document.wrong(key, f"the key {name!r} is missing", hint or None)
        return None if WRONG in values.values() else values

    def value(self, key: Key, value: Any, hint: Any) -> Any:
        """A value of the type that a field asks for."""
        kind = _without_none(hint)
        if get_origin(kind) is Literal:
            return self.choice(key, value, get_args(kind))
        if kind == kinds.Names:
            return self.names(key, value)
        if kind in (kinds.Types, kinds.Params):
            return value if isinstance(value, dict) else self.refuse(key, value, "a table")
        if kind == kinds.Settings:
            return self.settings(key, value)
        if kind is kinds.Location:
            return self.location(key, value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            return self.refuse(key, value, WORDS[kind])
        if key[-1] == "time" and not value:
            return self.refuse(key, value, "the name of a column")
        return value

    def choice(self, key: Key, value: Any, known: tuple[str, ...]) -> Any:
        if value in known:
            return value
        choices = " or ".join(f'"{each}"' for each in known)
        self.document.wrong(key, f"{_shown(value)} is not one of the words", f"write {choices}")
        return WRONG

    def names(self, key: Key, value: Any) -> Any:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            return self.refuse(key, value, "a text or a list of texts")
        if key[-1] == "from" and not listed:
            return self.refuse(key, value, "the name of a stream, or some of them,")
        return tuple(listed)

    def settings(self, key: Key, value: Any) -> Any:
        """Settings by name. In TOML, `a.b = 1` without quotes is a table inside a table; its author
        means the setting `a.b`."""
        if not isinstance(value, dict):
            return self.refuse(key, value, "a table")
        values: dict[str, Any] = {}
        for name, inner in value.items():
            if isinstance(inner, dict):
                deeper = self.settings((*key, name), inner)
                values.update({f"{name}.{rest}": each for rest, each in deeper.items()})
            elif isinstance(inner, str | int | float | bool):
                values[name] = inner
            else:
                self.refuse((*key, name), inner, "a text, a number, true or false")
        return values

    def location(self, key: Key, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return self.refuse(key, value, "a path")
        if "\0" in value or max(map(len, value.encode(errors="replace").split(b"/"))) > LONGEST:
            self.document.wrong(key, "no file can have this name", "write a shorter path")
            return WRONG
        try:
            return kinds.Location(value if "://" in value else self.home / Path(value).expanduser())
        except RuntimeError:
            self.document.wrong(key, "there is no such home directory", "write the whole path")
            return WRONG

    def refuse(self, key: Key, value: Any, wanted: str) -> Any:
        self.document.wrong(key, f"{wanted} is needed, not {_what(value)}")
        return WRONG


LONGEST = 255
"""The most bytes of a name in a path; file systems allow no more."""
WORDS: dict[Any, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def _required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _needed(hint: Any) -> str:
    kind = _without_none(hint)
    return f"one of {_list(get_args(kind))}" if get_origin(kind) is Literal else ""


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (types.UnionType, Union):
        return hint
    (kind,) = (each for each in get_args(hint) if each is not types.NoneType)
    return kind


def _list(names: Any) -> str:
    return ", ".join(f'"{each}"' for each in names)


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else _what(value)


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return f"the text {value!r}" if isinstance(value, str) else str(value)


def _of_another_table(key: Key, name: str, known: Iterable[str]) -> str | None:
    """Where a key belongs that this table does not know. A source says where events are, and a
    stream which of its columns says their time."""
    if key[:1] == ("sources",) and name in _keys(spec.StreamOf):
        stream = f'[streams.some_name], source = "{key[1]}"'
        return f"it belongs to a stream that reads this source: {stream}"
    if nearest(name, list(known)) is not None:
        return None
    tables = [f"[{each}.some_name]" for each, of in TABLES.items() if name in _keys(*of)]
    tables += ["[spark]"] if name in _keys(spec.SparkSettings) else []
    top = ["the top of the file"] if name in _keys(spec.Spec) and name not in TABLES else []
    places = [*top, *tables]
    return f"it belongs to {' or '.join(places)}" if places else None


def _keys(*classes: Any) -> set[str]:
    return {each.name.rstrip("_") for cls in classes for each in dataclasses.fields(cls)}
