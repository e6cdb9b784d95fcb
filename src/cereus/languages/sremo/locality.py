"""Finds out whether a match is decided between its first and its last mark, so that a stream can be
cut into pieces that overlap by the window.

A match is found by whoever reads the events from the first to the last one of its string. A window
bounds the events between the marks. If every string begins and ends with a marked event, these are
all events of the string.
"""

from __future__ import annotations

from collections.abc import Callable

from cereus.languages.sremo import tree as sremo


def looks_back(expression: sremo.Sremo) -> str | None:
    """Why a match may depend on events outside its marks; None if it does not. Strategies have been
    written out."""
    if not _marked(expression, lambda left, right: (left, right)):
        return "what comes first need not be marked, so it need not be in the window"
    if not _marked(expression, lambda left, right: (right, left)):
        return "what comes last need not be marked, so a match may be reported later"
    return None


_Order = Callable[[sremo.Sremo, sremo.Sremo], tuple[sremo.Sremo, sremo.Sremo]]


def _marked(expression: sremo.Sremo, order: _Order) -> bool:
    """Whether the first event of every string is marked; or the last, if `order` reverses the
    parts."""
    match expression:
        case sremo.Terminal():
            return expression.marks
        case sremo.Epsilon() | sremo.Nothing():
            return True
        case sremo.Concatenation(left, right):
            near, far = order(left, right)
            return _marked(near, order) and (not may_be_empty(near) or _marked(far, order))
        case sremo.Disjunction() | sremo.Intersection() | sremo.Windowed():
            return all(_marked(part, order) for part in expression.children())
        case sremo.Star(body) | sremo.Plus(body) | sremo.Optional(body):
            return _marked(body, order)
    return False


def may_be_empty(expression: sremo.Sremo) -> bool:
    """Whether the empty string may be among the strings."""
    match expression:
        case sremo.Terminal() | sremo.Nothing():
            return False
        case sremo.Concatenation() | sremo.Intersection() | sremo.Windowed() | sremo.Plus():
            return all(map(may_be_empty, expression.children()))
        case sremo.Disjunction():
            return any(map(may_be_empty, expression.children()))
    return True
