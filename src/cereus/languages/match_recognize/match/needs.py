"""Finds out what the conditions of DEFINE need, and so how they are matched.

A condition is a conjunction. A part of it that reads only the row at hand, or rows at a constant
distance from it, is *of the row*: its truth is a column that is computed ahead. Any other part
needs to know the match so far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import (
    LABEL,
    NUMBER,
    Bound,
    BoundFormula,
    Leaf,
)
from cereus.languages.match_recognize.match.rewriting import rewritten


@dataclass(frozen=True)
class Part:
    """One conjunct of a variable's condition."""

    expression: ex.Expression
    leaves: Mapping[str, Leaf]
    of_row: bool


def parts(bound: Bound, variable: str) -> tuple[Part, ...]:
    """The conjuncts of a variable's condition."""
    return bound.once(f"parts of {variable}", lambda: _parts(bound, variable))


def _parts(bound: Bound, variable: str) -> tuple[Part, ...]:
    formula = bound.define.get(variable)
    if formula is None:
        return ()
    formula = _specialised(bound.clause, rewritten(bound.clause, formula, variable), variable)
    return tuple(
        Part(each, used, all(is_of_row(leaf) for leaf in used.values()))
        for each in ex.conjuncts(formula.expression)
        for used in [_used(each, formula.leaves)]
    )


def is_of_row(leaf: Leaf) -> bool:
    """Whether a leaf is read from the row at hand, or from a row at a constant distance. The
    variable of such a place has been removed."""
    if not isinstance(leaf, values.At) or leaf.place != values.Place(shift=leaf.place.shift):
        return False
    return not ({LABEL, NUMBER} & names_in(leaf.argument))


def names_in(expression: ex.Expression | None) -> set[str]:
    """The columns that an expression of one row reads."""
    if expression is None:
        return set()
    return {node.path[0] for node in expression.walk() if isinstance(node, ex.Attribute)}


def arguments_of(leaf: Leaf) -> tuple[ex.Expression, ...]:
    """The expressions of one row in a leaf."""
    if isinstance(leaf, values.Over):
        return leaf.arguments
    return (leaf.argument,) if isinstance(leaf, values.At) else ()


def _used(expression: ex.Expression, leaves: tuple[Leaf, ...]) -> dict[str, Leaf]:
    return {name: leaves[int(name)] for name in sorted(names_in(expression))}


def _specialised(clause: tree.Clause, formula: BoundFormula, variable: str) -> BoundFormula:
    """The condition where the row at hand already counts as the variable: the last row of it, and
    of every subset that has it, is this row, and CLASSIFIER() is its name."""

    def of_leaf(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, values.At):
            return leaf
        place = leaf.place
        if variable in clause.members(place.variable) and not (place.first or place.offset):
            place = replace(place, variable=None)
        at_hand = place == values.Place()
        argument = with_label(leaf.argument, variable) if at_hand else leaf.argument
        return replace(leaf, argument=argument, place=place)

    return BoundFormula(formula.expression, tuple(map(of_leaf, formula.leaves)))


def with_label(node: ex.Expression, variable: str) -> ex.Expression:
    """An expression of a row that is mapped to a variable."""
    if isinstance(node, ex.Attribute) and node.path == (LABEL,):
        return ex.Literal(variable, span=node.span)
    return ex.rebuild(node, lambda child: with_label(child, variable))
