"""Logical negation as in Def. 13: ¬φ is satisfied exactly where φ is not.

Conditions are three-valued (NULL), so NOT φ is satisfied by fewer events. `fails` adds the rest,
and keeps to the form that Def. 13 needs: registers that are empty make atomic conditions false, not
their negations.
"""

from __future__ import annotations

from cereus.expr import tree as ex
from cereus.languages.sremo.tree import TRUE

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


# ---------------------------------------------------------------- conditions that exclude others

Literals = frozenset[tuple[ex.Expression, bool]]


def literals(condition: ex.Expression) -> Literals:
    """The conditions that must hold (True) and must fail (False) where this one holds."""
    match condition:
        case ex.And(operands):
            return frozenset().union(*map(literals, operands))
        case ex.Not(ex.Case(((atom, then),), otherwise)) if then == TRUE and otherwise == FALSE:
            return frozenset({(atom, False)})
    return frozenset({(condition, True)})


def clash(one: Literals, two: Literals) -> bool:
    """Whether one requires what the other excludes: by its sign, or by another value of the
    same attribute."""
    if any((atom, not sign) in two for atom, sign in one):
        return True
    values, others = _values(one), _values(two)
    return any(values[name] != others[name] for name in values.keys() & others.keys())


def _values(known: Literals) -> dict[ex.Expression, ex.Expression]:
    """The attributes that must equal a text, and these texts."""
    values: dict[ex.Expression, ex.Expression] = {}
    for atom, sign in known:
        match atom:
            case ex.Comparison("=", ex.Attribute() as name, ex.Literal(str()) as value) if sign:
                values[name] = value
    return values


def exclude(one: ex.Expression, two: ex.Expression) -> bool:
    """Whether, by their form, no event satisfies both."""
    parts = [{each, *(each.operands if isinstance(each, ex.And) else ())} for each in (one, two)]
    if any(fails(part) in other for these, other in (parts, parts[::-1]) for part in these):
        return True
    return clash(literals(one), literals(two))
