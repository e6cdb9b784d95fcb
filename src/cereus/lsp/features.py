"""Answers an editor about a text: its problems, its meaning, what may stand at a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import pyarrow as pa

from cereus.errors import CereusError, QueryError
from cereus.expr.functions import FUNCTIONS
from cereus.language.formatting import formatted
from cereus.language.protocol import Language
from cereus.language.registry import compile_source, default_name, dialect_of, language
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream
from cereus.syntax.parsing import errors_in

BEGUN = re.compile(r"(?P<word>\w*)(?P<dot>\.)?")
"""The word that is being written, and the dot before it, backwards: from the front, every place
of a long word would be tried."""
NAME = re.compile(r"[^\W\d]\w*")
SPACE = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*"
IMPORTED = re.compile(r"^%import ([a-z_.]+)\.grammar ", re.MULTILINE)
TERMINAL = re.compile(r"^_?[A-Z_]+(?:\.\d+)?: /(?!\(\?!)(.+)/i$", re.MULTILINE)
"""The words that a grammar reads in either case; a pattern that begins with a negative look-ahead
is a name."""
BEHIND = re.compile(r"\(\?[=!].*")
"""The look-ahead of a pattern."""
WORD = re.compile(r"(?<!\\)\b[A-Z_]{2,}")


@dataclass(frozen=True)
class TextProblem:
    """A problem, or something worth knowing, in a range of the text."""

    start: int
    end: int
    message: str
    error: bool = True


TIMED = Stream(time="time")


@dataclass(frozen=True)
class Surroundings:
    """What is known in addition to a text: the roles of columns, the columns of the events if they
    are known, the types of events, the options of the language, values of parameters. If nothing is
    known, a stream has a time."""

    stream: Stream = TIMED
    schema: pa.Schema | None = None
    types: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] | None = None


NOTHING_KNOWN = Surroundings()


def language_of(path: str, named: str | None = None) -> Language:
    """The language of a file: that of its suffix. For a text without a file, the one whose suffix
    the editor names."""
    return language(dialect_of(path) or dialect_of(f"text.{named}") or default_name())


def compiled(text: str, chosen: Language, known: Surroundings = NOTHING_KNOWN) -> Query:
    """The query of a text, checked against what is known."""
    with errors_in(text):
        made = compile_source(
            text, chosen.name, known.stream, Limits(), known.options, known.params
        )
        made.check(known.schema)
    return Query(made, known.schema)


def problems(text: str, chosen: Language, known: Surroundings = NOTHING_KNOWN) -> list[TextProblem]:
    """The first error of a text, else its warnings; none for a SQL statement around a clause, which
    other tools check."""
    if not text.strip() or is_statement(text, chosen):
        return []
    try:
        query = compiled(text, chosen, known)
        return [TextProblem(0, len(text), each, error=False) for each in query.warnings]
    except QueryError as error:
        start, end = error.span or (0, len(text))
        return [TextProblem(start, max(end, start + 1), _message(error.reason, error.hint))]
    except CereusError as error:
        return [TextProblem(0, len(text), _message(error.message, error.hint))]


def is_statement(text: str, chosen: Language) -> bool:
    """Whether a text in a SQL file is not a single clause."""
    if not chosen.embedded or chosen.signature is None:
        return False
    return re.match(SPACE + chosen.signature, text, re.IGNORECASE | re.DOTALL) is None


def _message(message: str, hint: str | None) -> str:
    return message if hint is None else f"{message}\nhint: {hint}"


def meaning(text: str, chosen: Language, known: Surroundings = NOTHING_KNOWN) -> str | None:
    """A text in plain English; None while it has an error."""
    try:
        return compiled(text, chosen, known).words()
    except CereusError:
        return None


def completions(
    text: str, offset: int, chosen: Language, known: Surroundings = NOTHING_KNOWN
) -> list[tuple[str, str]]:
    """Words that may stand at a place, each with its kind: columns and types of the events,
    keywords of the language, functions, and names elsewhere in the text. After `name.` only
    columns, if they are known."""
    begun = BEGUN.match(text[:offset][::-1])
    assert begun is not None  # it may be empty
    columns = [] if known.schema is None else known.schema.names
    words = (
        ((name, "column") for name in columns)
        if begun["dot"] and columns
        else _known_words(text, offset, chosen, known)
    )
    prefix = begun["word"][::-1].lower()
    return [each for each in words if each[0].lower().startswith(prefix)]


def _known_words(
    text: str, offset: int, chosen: Language, known: Surroundings
) -> Iterator[tuple[str, str]]:
    columns = () if known.schema is None else tuple(known.schema.names)
    words = keywords(chosen)
    yield from ((name, "column") for name in columns)
    yield from ((name, "type") for name in known.types)
    yield from ((word, "keyword") for word in words)
    yield from ((name, "function") for name in sorted(FUNCTIONS))
    seen = {word.lower() for word in words} | set(FUNCTIONS) | {*columns, *known.types}
    here = {match[0] for match in NAME.finditer(text) if not match.start() <= offset <= match.end()}
    yield from ((name, "name") for name in sorted(here) if not {name, name.lower()} & seen)


@cache
def keywords(chosen: Language) -> tuple[str, ...]:
    """The words of a language's grammar, and of the grammars it imports; and the other words that
    it understands."""
    package = type(chosen).__module__.rpartition(".")[0]
    grammar = files(package).joinpath("grammar.lark")
    if not grammar.is_file():
        return chosen.words
    text = grammar.read_text("utf-8")
    for name in sorted(set(IMPORTED.findall(text))):
        text += files("cereus").joinpath(*name.split("."), "grammar.lark").read_text("utf-8")
    patterns = (BEHIND.sub("", each) for each in TERMINAL.findall(text))
    read = {word for each in patterns for word in WORD.findall(each.replace(r"\s+", " "))}
    return tuple(sorted({*read, *chosen.words}))


def laid_out(text: str, chosen: Language) -> str | None:
    """The formatted text; None if it cannot be formatted."""
    try:
        return formatted(text, chosen)
    except CereusError:
        return None


def function_names() -> list[str]:
    """The functions of conditions, which all languages share."""
    return sorted(FUNCTIONS)
