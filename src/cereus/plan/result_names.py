"""Refuses, at compile time, a query whose results would have two columns of the same name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cereus.clauses.tree import TIMEOUTS, AnyQuery
from cereus.errors import RefusedError
from cereus.plan.returned import returned_columns

SPANS = ("start", "end", "start_time", "end_time", "positions")
COUNTS = ("end", "end_time", "count", "exact")
"""The columns that rows of matches and of counts always have; times only if the stream has them."""

Path = tuple[str, ...]


def check_pattern(query: AnyQuery, keys: Iterable[Path], *, timed: bool) -> None:
    """Refuse key columns and selected variables with the name of a column that every match has."""
    fixed = [
        name for name in (COUNTS if query.count else SPANS) if timed or not name.endswith("_time")
    ]
    fixed += TIMEOUTS if query.timeouts else ()
    check_keys(keys, fixed)
    taken = {*fixed, *map(".".join, keys)}
    for output in query.select or ():
        if output.name in taken:
            raise RefusedError(
                f"the result would have two columns {output.name!r}",
                text=query.text,
                span=output.span,
                hint="call the variable something else",
            )
        taken.add(output.name)
    returned_columns(query, keys)


def check_keys(keys: Iterable[Path], columns: Sequence[str]) -> None:
    """Refuse key columns with the name of one of these columns."""
    for name in map(".".join, keys):
        if name in columns:
            raise RefusedError(
                f"the key column {name!r} is called like a column of the result",
                hint=f"rename it; the result has the columns {', '.join(columns)}",
            )
