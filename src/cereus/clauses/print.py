"""The clauses at the end of a query back to text."""

from __future__ import annotations

from collections.abc import Iterator

from cereus.clauses.tree import AnyQuery, AttributeWindow, Consume, EventWindow, TimeWindow, Window
from cereus.expr.print import path_text
from cereus.syntax.literals import duration_text


def clause_lines(query: AnyQuery) -> Iterator[str]:
    """One clause a line."""
    if query.partition_by:
        yield f"PARTITION BY {', '.join(map(path_text, query.partition_by))}"
    if query.window is not None:
        timeouts = " WITH TIMEOUTS" if query.timeouts else ""
        yield f"WITHIN {window_text(query.window)}{timeouts}"
    if query.consume is not Consume.NONE:
        yield f"CONSUME BY {query.consume}"
    if query.limit is not None:
        yield f"LIMIT {query.limit}"
    if query.skip is not None:
        yield f"AFTER MATCH SKIP {query.skip}"


def window_text(window: Window) -> str:
    match window:
        case EventWindow(size):
            return f"{size} EVENTS"
        case TimeWindow(microseconds):
            return duration_text(microseconds)
        case AttributeWindow(size, attribute):
            return f"{size!r} [{path_text(attribute)}]"
