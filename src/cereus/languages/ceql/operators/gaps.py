"""Distances: the lengths in `;[5 minutes]`, and the window of a part of a pattern."""

from __future__ import annotations

from cereus.clauses.tree import EventWindow, TimeWindow, Window
from cereus.errors import QuerySyntaxError, RefusedError, Span
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import MOST_ROUNDS


def gap(least: Window | None, most: Window | None, span: Span) -> cel.GapLength:
    """The length from one event to the next: at least this long, at most this long."""
    for window in (least, most):
        if window is not None and not isinstance(window, TimeWindow):
            raise QuerySyntaxError(
                "a gap is a length of time",
                span=window.span or span,
                hint="write ;[5 minutes], or :{2} for events without others in between",
            )
    bounds = [None if w is None else w.microseconds for w in (least, most)]  # type: ignore[union-attr]
    if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
        raise QuerySyntaxError("this gap ends before it begins", span=span, hint="the least first")
    return cel.GapLength(*bounds, span=span)


def checked_window(window: Window) -> Window:
    if isinstance(window, EventWindow) and window.size > MOST_ROUNDS:
        raise RefusedError(
            f"the window of a part of a pattern has at most {MOST_ROUNDS:,} events",
            span=window.span,
            hint="use a length of time, or WITHIN at the end, for the whole pattern",
        )
    return window
