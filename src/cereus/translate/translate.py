"""Translate a query of one dialect to a text of another, where that one can express it."""

from __future__ import annotations

from collections.abc import Callable

from cereus.clauses.tree import AnyQuery
from cereus.errors import CereusError, did_you_mean
from cereus.language.compiled import CompiledQuery
from cereus.language.pattern import PatternQuery
from cereus.languages.ceql import text as ceql
from cereus.languages.sremo import text as sremo_text
from cereus.stream import Stream
from cereus.syntax.parsing import errors_in
from cereus.translate.to_ceql import as_ceql
from cereus.translate.to_sremo import as_sremo

INTO: dict[str, Callable[[AnyQuery, Stream], str]] = {
    "ceql": lambda query, stream: ceql.to_text(as_ceql(query)),
    "sremo": lambda query, stream: sremo_text.to_text(as_sremo(query, stream.type)),
}


def translated(compiled: CompiledQuery, dialect: str) -> str:
    """The text of the same query in another dialect; an error names what it cannot express."""
    if dialect not in INTO:
        raise CereusError(
            f"no query can be written as {dialect!r}",
            hint=did_you_mean(dialect, INTO) or f"one of {', '.join(INTO)}",
        )
    if not isinstance(compiled, PatternQuery):
        raise CereusError(f"a query in {compiled.dialect} cannot be written as {dialect}")
    with errors_in(compiled.text):
        return INTO[dialect](compiled.query, compiled.stream)
