"""Long chains of one operator, without a call for each of its parts."""

from __future__ import annotations

from cereus.languages.ceql import tree as cel


def chain(formula: cel.Sequence | cel.ContiguousSequence | cel.Or | cel.All) -> list[cel.Formula]:
    """φ₁, φ₂ … of `φ₁ ; φ₂ ; …`, from left to right."""
    parts: list[cel.Formula] = []
    todo: list[cel.Formula] = [formula]
    while todo:
        part = todo.pop()
        if type(part) is type(formula):
            todo += (part.right, part.left)
        else:
            parts.append(part)
    return parts
