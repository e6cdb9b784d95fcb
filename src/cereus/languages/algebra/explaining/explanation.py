"""Explains how an event expression will be detected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.language.compiled import sections
from cereus.languages.algebra.detect.layout import lay_out
from cereus.languages.algebra.rewriting import law_list

if TYPE_CHECKING:
    from cereus.languages.algebra.query import AlgebraQuery


def explanation(query: AlgebraQuery, schema: pa.Schema | None) -> str:
    """How an expression will be detected."""
    return sections(
        {
            "expression": [str(query.tree)],
            "optimised": _optimised(query),
            "tests": query.tests_text(schema),
            "dropped before detection": ["events that pass no test"],
            "ticks": _ticks(query),
            "results": _results(query),
            "bounds": _bounds(query),
            "warnings": query.warnings,
        }
    )


def _optimised(query: AlgebraQuery) -> Iterator[str]:
    if query.optimised is None:
        yield "no: optimise is off"
    elif not query.optimised.steps:
        yield "no law lowers the bounds"
    else:
        yield str(query.optimised.after)
        yield f"by {law_list(query.optimised.laws)}"


def _ticks(query: AlgebraQuery) -> Iterator[str]:
    if query.stream.time is None:
        yield "every event is a tick of its own, numbered by its position within its key"
        return
    yield f"events of equal {query.stream.time} are one tick, detected when it is over"
    yield (
        "of several instances of a primitive in a tick the first counts"
        if query.merge_ties
        else "two instances of a primitive in a tick are an error (with merge_ties: the first)"
    )


def _results(query: AlgebraQuery) -> Iterator[str]:
    if query.stream.keys:
        yield f"each value of {', '.join(query.stream.keys)} on its own"
    yield "at most one instance for each tick at which one ends: that which starts last"
    yield (
        "start, end and the rows of the constituents"
        if query.values
        else "start and end (with values: also the rows of the constituents)"
    )


def _bounds(query: AlgebraQuery) -> Iterator[str]:
    if query.optimised is not None and query.optimised.steps:
        yield f"as written  {query.optimised.bounds_before}"
        yield f"optimised   {query.bounds}"
    else:
        yield str(query.bounds)
    if query.stream.time is not None:
        yield f"and {query.bounds.waiting_bytes} bytes per key for a tick that may not be over"
        if query.stream.keys:
            restricted = lay_out(query.expression, values=False).longest_age is not None
            too_old = ", or only what a restriction makes too old," if restricted else ""
            yield f"a key of which nothing is remembered{too_old} is forgotten"
    yield f"{query.bounds.working_bytes} bytes once; whatever the stream, never more"
    columns = len(query.stream.keys)
    once = query.bounds.snapshot_bytes(0, key_columns=columns)
    each = query.bounds.snapshot_bytes(1, key_columns=columns) - once
    beside = " beside the key itself" if columns else ""
    yield f"a snapshot: {once} bytes and the schema, and {each} per key{beside}, at most"
