"""What an editor asks of a text: what is wrong, what it means, what may stand here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cereus.errors import CereusError, QueryError
from cereus.expr.functions import FUNCTIONS
from cereus.language.formatting import formatted
from cereus.language.protocol import Language
from cereus.language.registry import compile_source, default_name, dialect_of, language
from cereus.limits import Limits
from cereus.query import Query
from cereus.stream import Stream

NAME = re.compile(r"[^\W\d]\w*")
KEYWORD = re.compile(r'"([A-Za-z_]{2,})"|/([A-Za-z_]{2,})\b')


@dataclass(frozen=True)
class TextProblem:
    """Something wrong, or worth knowing, in a stretch of the text."""

    start: int
    end: int
    message: str
    error: bool = True


def language_of(path: str) -> Language:
    return language(dialect_of(path) or default_name())


def compiled(text: str, chosen: Language) -> Query:
    """The query of a text. Whether a stream has a time is not known here, so it has one."""
    stream = Stream(time="time")
    return Query(compile_source(text, chosen.name, stream, Limits(), {}))


def problems(text: str, chosen: Language) -> list[TextProblem]:
    """The first error of a text, else its warnings."""
    if not text.strip():
        return []
    try:
        query = compiled(text, chosen)
        query.compiled.check(None)
        return [TextProblem(0, len(text), each, error=False) for each in query.warnings]
    except QueryError as error:
        start, end = error.span or (0, len(text))
        return [TextProblem(start, max(end, start + 1), _message(error.reason, error.hint))]
    except CereusError as error:
        return [TextProblem(0, len(text), _message(error.message, error.hint))]


def _message(message: str, hint: str | None) -> str:
    return message if hint is None else f"{message}\nhint: {hint}"


def meaning(text: str, chosen: Language) -> str | None:
    """What a text asks, in plain English; None while it has an error."""
    try:
        return compiled(text, chosen).words()
    except CereusError:
        return None


def completions(text: str, offset: int, chosen: Language) -> list[tuple[str, str]]:
    """Words that may stand at a place, each with its kind: keywords of the language, functions,
    and the names that the text has elsewhere."""
    begun = re.search(r"\w*$", text[:offset])
    prefix = "" if begun is None else begun[0].lower()
    return [each for each in _known(text, offset, chosen) if each[0].lower().startswith(prefix)]


def _known(text: str, offset: int, chosen: Language) -> Iterator[tuple[str, str]]:
    words = keywords(chosen)
    yield from ((word, "keyword") for word in words)
    yield from ((name, "function") for name in sorted(FUNCTIONS))
    known = {word.lower() for word in words} | set(FUNCTIONS)
    here = {match[0] for match in NAME.finditer(text) if not match.start() <= offset <= match.end()}
    yield from ((name, "name") for name in sorted(here) if name.lower() not in known)


@cache
def keywords(chosen: Language) -> tuple[str, ...]:
    """The words of a language's grammar."""
    package = type(chosen).__module__.rpartition(".")[0]
    grammar = files(package).joinpath("grammar.lark")
    if not grammar.is_file():
        return ()
    written = KEYWORD.findall(grammar.read_text("utf-8"))
    return tuple(sorted({quoted or pattern for quoted, pattern in written}))


def laid_out(text: str, chosen: Language) -> str | None:
    """The text formatted; None where that cannot be done."""
    try:
        return formatted(text, chosen)
    except CereusError:
        return None
