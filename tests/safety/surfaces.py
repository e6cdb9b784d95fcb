"""Everything that can be done with a text and with events, and what may come of it: an answer, or a
CereusError with a message that fits a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

import cereus
from cereus import errors
from cereus.errors import CereusError, QueryError
from cereus.language.anatomy import Anatomy
from cereus.language.formatting import formatted
from cereus.language.registry import language
from cereus.lsp import features
from cereus.show import diagram
from cereus.translate.translate import translated
from cereus.why.size import check_size

SCHEMA = pa.schema(
    [
        ("type", pa.string()),
        ("ts", pa.timestamp("us")),
        ("x", pa.int64()),
        ("y", pa.float64()),
        ("s", pa.string()),
        ("k", pa.int64()),
    ]
)
EVENTS = pa.table(
    {
        "type": ["A", "B", "A", "C", "B", "T0", "A", "B"],
        "ts": [0, 1, 2, 2, 5, 7, 8, 20],
        "x": [5, 6, None, 8, 9, 1, 2, 3],
        "y": [1.0, float("nan"), 3.0, float("inf"), None, 0.0, -0.0, 2.5],
        "s": ["a", "b", None, "", "a", "é", "ab", "b"],
        "k": [1, 1, 2, None, 2, 1, 1, 2],
    },
    schema=SCHEMA,
)
STREAM = cereus.Stream(time="ts")
LANGUAGES = ("algebra", "ceql", "match_recognize", "par", "sase", "sremo")
LONGEST_MESSAGE = 2 * errors.LONGEST_MESSAGE + 100
"""A message, and a hint."""

TextUse = Callable[[str, str], Any]
"""Of a text and the name of its language."""
TEXT_USES: dict[str, TextUse] = {
    "format": lambda text, dialect: formatted(text, language(dialect)),
    "problems": lambda text, dialect: features.problems(text, language(dialect)),
    "meaning": lambda text, dialect: features.meaning(text, language(dialect)),
    "completions": lambda text, dialect: features.completions(text, len(text), language(dialect)),
}
Use = Callable[[cereus.Query], Any]
USES: dict[str, Use] = {
    "explain": lambda query: query.explain(),
    "words": lambda query: query.words(),
    "warnings": lambda query: query.warnings,
    "dot": lambda query: diagram(query).dot,
    "mermaid": lambda query: diagram(query).mermaid(),
    "to ceql": lambda query: translated(query.compiled, "ceql"),
    "to sremo": lambda query: translated(query.compiled, "sremo"),
    "flat": lambda query: query.flat(SCHEMA),
    "anatomy": lambda query: taken_apart(query),
    "run": lambda query: query.run(EVENTS),
    "count": lambda query: query.count(EVENTS),
    "why": lambda query: query.why(EVENTS),
    "why not": lambda query: query.why_not(EVENTS, [0, 1]),
    "push": lambda query: pushed(query).snapshot(),
}

RUNS = ("run", "count", "why", "why not", "push")
PLANNED = {name: use for name, use in USES.items() if name not in RUNS}
"""What is done with a query without events."""


def compiled(text: str, dialect: str, schema: pa.Schema | None = SCHEMA) -> cereus.Query:
    return cereus.compile(text, dialect=dialect, schema=schema, stream=STREAM)


def pushed(query: cereus.Query) -> cereus.Recognizer:
    recognizer = query.recognizer(schema=SCHEMA)
    recognizer.push(EVENTS)
    return recognizer


def taken_apart(query: cereus.Query) -> Anatomy:
    check_size(query.compiled, SCHEMA)
    return query.compiled.anatomy(SCHEMA)


def use(text: str, dialect: str) -> bool:
    """Do everything with a text; whether it is a query. What is no CereusError escapes."""
    for ask in TEXT_USES.values():
        with suppress(CereusError):
            ask(text, dialect)
    try:
        query = compiled(text, dialect)
    except CereusError as error:
        check_error(error, text)
        return False
    for name, work in USES.items():
        try:
            work(query)
        except CereusError as error:
            check_error(error, text)
        except Exception as error:
            error.add_note(f"{name} of the {dialect} query {text!r}")
            raise
    return True


def check_error(error: CereusError, text: str) -> None:
    """A message that fits a screen, whose caret points into the text."""
    assert len(str(error)) < LONGEST_MESSAGE + len(text), str(error)[:LONGEST_MESSAGE]
    if isinstance(error, QueryError) and error.span is not None:
        begin, end = error.span
        assert 0 <= begin <= end <= len(error.text or text) + 1


def used(texts: Iterator[str], dialect: str) -> int:
    """How many of some texts are queries."""
    return sum(use(text, dialect) for text in texts)
