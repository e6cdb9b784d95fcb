"""Finds conditions that hold for every event of a set if they hold for its extremes.

Suppose that the values for which a condition is true form an interval. Then a condition that holds
for the least and for the greatest value of a set holds for those between: `a.price + b.price >
100`, `abs(a.time - b.time) < 5`. Rounding keeps the order, and what does not fit 64 bits (NULL)
lies at an end, so this is exact.
"""

from __future__ import annotations

from cereus.expr.tree import (
    And,
    Arithmetic,
    Between,
    Call,
    Comparison,
    Expression,
    Literal,
    Negate,
    variables,
)

ONE_ARGUMENT = ("floor", "ceil", "sqrt")
"""Functions that keep the order of their argument."""


def is_interval(condition: Expression, name: str) -> bool:
    """Whether the values of the variable for which the condition is true form an interval, whatever
    the other variables hold. The variable must be read once."""
    match condition:
        case And(operands):
            return all(is_interval(operand, name) for operand in operands)
        case Between(operand, low, high):
            bounds = (("<=", high), (">=", low))
            compared = [Comparison(op, operand, bound) for op, bound in bounds if bound is not None]
            return all(is_interval(each, name) for each in compared)
        case Comparison(op, left, right):
            depending = [side for side in (left, right) if name in variables(side)]
            if op == "!=" or len(depending) > 1:
                return False
            return all(
                keeps_order(side, name) or _is_near(op, side, name, on_the_left=side is left)
                for side in depending
            )
    return name not in variables(condition)


def keeps_order(node: Expression, name: str) -> bool:
    """Whether a value never falls while the variable grows, or never rises. NULL and NaN lie at the
    ends."""
    if variables(node) == {name}:
        return True  # this is the kept value of an event
    match node:
        case Negate(operand):
            return keeps_order(operand, name)
        case Arithmetic("+" | "-", left, right):
            return _only_one(name, left, right)
        case Arithmetic("*", left, right) if _is_number(left) or _is_number(right):
            return _only_one(name, left, right)
        case Arithmetic("/", left, right) if _is_number(right):
            return keeps_order(left, name)
        case Call(function, (operand,)) if function in ONE_ARGUMENT:
            return keeps_order(operand, name)
        case Call("least" | "greatest", arguments):
            return _only_one(name, *arguments)
    return False


def _only_one(name: str, *parts: Expression) -> bool:
    depending = [part for part in parts if name in variables(part)]
    return len(depending) == 1 and keeps_order(depending[0], name)


def _is_number(node: Expression) -> bool:
    return isinstance(node, Literal) and isinstance(node.value, int | float)


def _is_near(op: str, side: Expression, name: str, *, on_the_left: bool) -> bool:
    """Whether a condition is `abs(…) < c`: near enough in both directions."""
    below = ("<", "<=") if on_the_left else (">", ">=")
    match side:
        case Call("abs", (operand,)) if op in below:
            return variables(operand) != {name} and keeps_order(operand, name)
    return False
