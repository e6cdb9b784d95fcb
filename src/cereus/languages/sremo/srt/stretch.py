"""Bounds the length of the string that a part of an expression reads.

A window bounds the events between the first and the last mark. So it bounds a part that surely has
a mark before and a mark after it, and determinisation needs that bound (Theorem 38).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cereus.languages.sremo import tree as sremo


@dataclass(frozen=True)
class LengthBound:
    """At most `most` events, wherever marks are; or as many as `window`, the innermost e[1..w]
    around the part, allows, if there surely is a mark `before` and one `after` it."""

    most: int | None = None
    window: int | None = None
    before: bool = False
    after: bool = False

    @property
    def length(self) -> int | None:
        between = self.window is not None and self.before and self.after
        inner = max(0, self.window - 2) if between and self.window is not None else None
        return min((n for n in (self.most, inner) if n is not None), default=None)

    def after_marks(self, surely: bool) -> LengthBound:
        return replace(self, before=self.before or surely)

    def before_marks(self, surely: bool) -> LengthBound:
        return replace(self, after=self.after or surely)


def surely_marks(expression: sremo.Sremo) -> bool:
    """Whether there is a mark in every string of an expression. Strategies are written out."""
    match expression:
        case sremo.Terminal(marks=marks):
            return marks
        case sremo.Concatenation(left, right) | sremo.Intersection(left, right):
            return surely_marks(left) or surely_marks(right)
        case sremo.Disjunction(left, right):
            return surely_marks(left) and surely_marks(right)
        case sremo.Plus(body) | sremo.Windowed(body):
            return surely_marks(body)
    return isinstance(expression, sremo.Nothing)
