"""The clauses at the end of a query back to text."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.lang import cel
from cereus.lang.literals import duration_text
from cereus.lang.print_expression import path_text


def clause_lines(query: cel.Query) -> Iterator[str]:
    """One clause a line."""
    if query.partition_by:
        yield f"PARTITION BY {', '.join(map(path_text, query.partition_by))}"
    if query.window is not None:
        yield f"WITHIN {window_text(query.window)}"
    if query.consume is not cel.Consume.NONE:
        yield f"CONSUME BY {query.consume}"
    if query.limit is not None:
        yield f"LIMIT {query.limit}"


def window_text(window: cel.Window) -> str:
    match window:
        case cel.EventWindow(size):
            return f"{size} EVENTS"
        case cel.TimeWindow(microseconds):
            return duration_text(microseconds)
        case cel.AttributeWindow(size, attribute):
            return f"{size!r} [{path_text(attribute)}]"
