"""Logical negation as Def. 13 has it: ¬φ is satisfied exactly where φ is not.

Conditions are three-valued (NULL), so NOT φ is less. `fails` says the rest, and keeps to the form
that Def. 13 needs: registers that are empty make atomic conditions false, not their negations.
"""

from __future__ import annotations

from cereus.lang import expression as ex
from cereus.lang.sremo import TRUE

FALSE: ex.Expression = ex.Literal(False)


def fails(condition: ex.Expression) -> ex.Expression:
    """True where the condition is false or NULL."""
    match condition:
        case ex.And(operands):
            return ex.Or(tuple(map(fails, operands)))
        case ex.Or(operands):
            return ex.And(tuple(map(fails, operands)))
        case ex.Not(operand):
            return _not_false(operand)
    return ex.Not(ex.Case(((condition, TRUE),), FALSE))


def _not_false(condition: ex.Expression) -> ex.Expression:
    """True where the condition is true or NULL."""
    match condition:
        case ex.And(operands):
            return ex.And(tuple(map(_not_false, operands)))
        case ex.Or(operands):
            return ex.Or(tuple(map(_not_false, operands)))
        case ex.Not(operand):
            return fails(operand)
    return ex.Case(((ex.Not(condition), FALSE),), TRUE)


def exclude(one: ex.Expression, two: ex.Expression) -> bool:
    """Whether one condition asks for something, and the other for its failing."""
    parts = [{each, *(each.operands if isinstance(each, ex.And) else ())} for each in (one, two)]
    return any(fails(part) in other for own, other in (parts, parts[::-1]) for part in own)
