"""Translates a query of one dialect to a text of another, where that one can express it."""

from __future__ import annotations

from collections.abc import Callable

from cereus.clauses.tree import AnyQuery
from cereus.errors import CereusError, did_you_mean
from cereus.language.compiled import CompiledQuery
from cereus.language.pattern import PatternQuery
from cereus.stream import Stream
from cereus.syntax.parsing import errors_in


def _into_ceql(query: AnyQuery, stream: Stream) -> str:
    from cereus.languages.ceql.print import to_text
    from cereus.translate.to_ceql import as_ceql

    return to_text(as_ceql(query))


def _into_sremo(query: AnyQuery, stream: Stream) -> str:
    from cereus.languages.sremo.print import to_text
    from cereus.translate.to_sremo import as_sremo

    return to_text(as_sremo(query, stream.type))


INTO: dict[str, Callable[[AnyQuery, Stream], str]] = {"ceql": _into_ceql, "sremo": _into_sremo}


def translated(compiled: CompiledQuery, dialect: str) -> str:
    """The text of the same query in another dialect; an error names what it cannot express."""
    if dialect not in INTO:
        raise CereusError(
            f"no query can be written as {dialect!r}",
            hint=did_you_mean(dialect, INTO) or f"one of {', '.join(INTO)}",
        )
    if not isinstance(compiled, PatternQuery):
        raise CereusError(
            f"a query in {compiled.dialect} cannot be written as {dialect}",
            hint="queries in CEQL and in SREMO can be written as each other",
        )
    with errors_in(compiled.text):
        return INTO[dialect](compiled.tree, compiled.stream)
