"""Turns what is typed on the command line into a query, a stream, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, DataError, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.text import parse_condition
from cereus.language.protocol import OptionKind
from cereus.language.registry import default_name, dialect_of, language, names, options_of
from cereus.limits import Limits
from cereus.query import Query, compile
from cereus.sources import Files, Source, source
from cereus.sources.formats import format_of
from cereus.sources.reading.delimited import SEPARATORS
from cereus.stream import Stream

OTHER_SUFFIXES = (".txt", ".query")
"""Suffixes of query files that do not name a language."""
NO_COLUMN = "none"
DEFAULT_TYPE = "type"
LIMITS = tuple(each.name for each in fields(Limits) if each.name != "shed")
"""The limits that can be set here, without `shed`: the results of a command cannot carry a note
about it."""


@dataclass(frozen=True)
class Written:
    """The text of a query, its file if it was not typed, and the dialect in front of it
    (`sase:PATTERN …`)."""

    text: str
    file: Path | None = None
    prefix: str | None = None

    def dialect(self, declared: str | None) -> str:
        """The dialect in front of the text, else the declared one, else that of the suffix of the
        file."""
        of_file = None if self.file is None else dialect_of(self.file)
        return self.prefix or declared or of_file or default_name()


def written(argument: str) -> Written:
    """A query as typed, or the content of the file it names: `@file`, or a path like `q.ceql`. Its
    dialect may stand in front of it: `sase:PATTERN …`, `sase:@file`."""
    prefix, colon, rest = argument.partition(":")
    if colon and prefix in names():
        return replace(written(rest.lstrip()), prefix=prefix)
    explicit = argument.startswith("@")
    path = Path(argument[1:] if explicit else argument)
    one_word = len(argument.split()) == 1
    if one_word and format_of(argument) is not None and path.exists():
        raise CereusError(
            f"{argument!r} is a file of events, and the query comes first",
            hint=f'write it before the files: "SELECT * WHERE A ; B" {argument}',
        )
    if not explicit and not (one_word and _is_query_file(path)):
        if one_word and path.is_file():
            raise CereusError(
                f"{argument!r} is a file, and its suffix names no language",
                hint=f"to read the query from it, write @{argument}, with --dialect "
                f"for a language other than {default_name()}",
            )
        return Written(argument)
    try:
        return Written(path.read_text(encoding="utf-8"), path)
    except FileNotFoundError:
        raise CereusError(f"there is no query file {str(path)!r}", hint="check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CereusError(
            f"cannot read the query file {str(path)!r}: {error}", hint="it is a text in UTF-8"
        ) from None


def _is_query_file(path: Path) -> bool:
    return dialect_of(path) is not None or path.suffix.lower() in OTHER_SUFFIXES


def need_types(schema: pa.Schema) -> None:
    """Refuse events without a type column, if no other column is named."""
    if DEFAULT_TYPE not in schema.names:
        other = next((sign for sign in SEPARATORS if sign in "".join(schema.names)), None)
        if other is not None:
            raise DataError(
                f"the events have no column {DEFAULT_TYPE!r}, but one {schema.names[0]!r}",
                hint=f"columns are separated by commas unless you say --delimiter {shown(other)}",
            )
        raise DataError(
            f"the events have no column {DEFAULT_TYPE!r} that says their type",
            hint="name it with --type COLUMN, or say --type none when every event is an EVENT; "
            f"the columns are {', '.join(schema.names)}",
        )


def shown(separator: str) -> str:
    return "tab" if separator == "\t" else f"{separator!r}"


def is_typed(query: Written, dialect: str | None) -> bool:
    """Whether the language of a text needs types of events."""
    named = query.dialect(dialect)
    return named not in names() or language(named).typed


def ordered_by(time: str | None) -> Stream:
    """The stream that is needed to read events: the column to sort them by."""
    return Stream(time=column_or_none(time))


def column_or_none(name: str | None) -> str | None:
    return None if name is None or name.lower() == NO_COLUMN else name


def compiled(
    query: Written,
    declared: str | None,
    stream: Stream,
    schema: pa.Schema | None,
    settings: Sequence[str] | None = None,
    limits: Limits | None = None,
    params: Mapping[str, Any] | None = None,
) -> Query:
    """Compile a query in the dialect that was declared, or that of its file."""
    dialect = query.dialect(declared)
    options: dict[str, Any] = dict(_setting(text, dialect) for text in settings or ())
    return compile(
        query.text,
        dialect=dialect,
        stream=stream,
        schema=schema,
        limits=limits,
        params=params,
        **options,
    )


def params_of(written: Sequence[str]) -> dict[str, Any]:
    """`limit=5`, `name=INTC`, `names=('a', 'b')`: the values of parameters."""
    return dict(map(_param, written))


def _param(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise CereusError(f"--param {text} gives no value to a name", hint="write limit=5")
    if value.startswith("(") and value.endswith(")"):
        items = parse_condition(f"x IN {value}")
        return name, [item.value for item in items.children() if isinstance(item, ex.Literal)]
    try:
        literal = parse_condition(value)
    except CereusError:
        return name, value
    return name, literal.value if isinstance(literal, ex.Literal) else value


def limits_of(written: Sequence[str]) -> Limits:
    """The limits of a run: `nodes=1000`."""
    limits: dict[str, Any] = dict(map(_limit, written))
    return Limits(**limits)


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if name.isdecimal():
        raise CereusError(
            f"--limit {text}: of what?",
            hint=f"write nodes={text}; to see so many matches write --limit-shown {text}",
        )
    if name not in LIMITS:
        raise CereusError(f"there is no limit {name!r}", hint=did_you_mean(name, LIMITS))
    if not value.isdecimal():
        raise CereusError(f"--limit {text} is not a whole number", hint=f"write {name}=100000")
    return name, int(value)


def _setting(text: str, dialect: str) -> tuple[str, bool | str]:
    """`values`, `values=yes`, `optimise=no`; `output=STREAM` if the option is not a switch.
    Compiling reports an unknown option with the known ones."""
    name, _, value = text.partition("=")
    name = name.replace("-", "_")
    if name not in options_of(dialect, OptionKind.SWITCH):
        if name in options_of(dialect) and name not in options_of(dialect, OptionKind.TEXT):
            hint = f"compile the query in Python: cereus.compile(…, {name}=…)"
            raise CereusError(f"{name} cannot be given on the command line", hint=hint)
        return name, value
    known = {"": True, "yes": True, "true": True, "no": False, "false": False}
    if value.lower() not in known:
        raise CereusError(f"--set {text} is neither yes nor no", hint=f"write {name}=yes or =no")
    return name, known[value.lower()]


def events_of(files: Files | Sequence[str], stream: Stream, *, sort: bool) -> Source:
    return source(files if isinstance(files, Files) else list(files), stream, sort=sort)


def types_of(written: Sequence[str]) -> dict[str, str]:
    """`price=double`: the types of columns."""
    types = {}
    for text in written:
        name, equals, kind = text.partition("=")
        if not (name and equals and kind):
            raise CereusError(f"--types {text} gives no type", hint="write price=double")
        types[name] = kind
    return types
