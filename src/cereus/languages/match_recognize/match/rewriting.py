"""What conditions ask of lists, of CLASSIFIER() and of MATCH_NUMBER(), in words that the compiled
kernel knows.

`cardinality(array_agg(a.x))` is a count, `array_agg(a.x)[2]` the second row of a, the greatest
`CLASSIFIER()` the last of the names that rows have been mapped to, and a sum of `MATCH_NUMBER()` so
many times that number. A text is NULL where nothing can be said of it. What is not here stays as it
is, and is searched in Python.
"""

from __future__ import annotations

from collections.abc import Callable

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Formula, Leaf, attribute

Placed = Callable[[Leaf], ex.Expression]
"""Makes a leaf one of a formula, and returns the attribute that it has there."""
MOST_NAMES = 16
"""Variables, at most, among which the greatest or the least name is told by cases."""
NULL = ex.Literal(None)


def rewritten(clause: tree.Clause, formula: Formula) -> Formula:
    """The same condition, with leaves that the kernel computes where there are such."""
    leaves: dict[Leaf, int] = {}

    def placed(leaf: Leaf) -> ex.Expression:
        return attribute(leaves.setdefault(leaf, len(leaves)))

    def replaced(node: ex.Expression) -> ex.Expression:
        match node:
            case ex.Attribute((name,)):
                leaf = formula.leaves[int(name)]
                return _computed(leaf, placed) or placed(leaf)
            case ex.IsNull(ex.Attribute((name,))) if is_text(formula.leaves[int(name)]):
                return ex.IsNull(ex.Like(placed(formula.leaves[int(name)]), "%"))
        return ex.rebuild(node, replaced)

    expression = _by_cases(clause, formula, formula.expression, placed, replaced)
    return Formula(expression, tuple(leaves))


def is_text(leaf: Leaf) -> bool:
    """Whether a leaf is a text of several rows, of which only tests are computed."""
    if not isinstance(leaf, values.Over):
        return False
    joined = [then.function for then in leaf.then] == ["array_join"]
    return leaf.function == "string_agg" or (leaf.function == "array_agg" and joined)


def is_distinct(leaf: Leaf) -> bool:
    """Whether a leaf is how many different values there are."""
    if not isinstance(leaf, values.Over) or leaf.function != "array_agg":
        return False
    return [then.function for then in leaf.then] == ["array_distinct", "cardinality"]


def _computed(leaf: Leaf, placed: Placed) -> ex.Expression | None:
    """A leaf by others; None where it stays as it is."""
    if not isinstance(leaf, values.Over) or leaf.argument is None:
        return None
    if leaf.function == "array_agg" and len(leaf.then) == 1:
        return _taken(leaf, leaf.argument, leaf.then[0], placed)
    if leaf.argument == ex.Attribute((NUMBER,)) and not leaf.then:
        return _of_number(leaf, placed)
    return None


def _taken(
    leaf: values.Over, argument: ex.Expression, then: values.Then, placed: Placed
) -> ex.Expression | None:
    """What is taken out of the list of all values."""
    match then.function, then.given:
        case "cardinality", ():
            count = _count(leaf, placed)
            return _if_any(leaf, count, placed)
        case "element_at", (int(key),) if key != 0:
            place = values.Place(leaf.variable, first=key > 0, offset=abs(key) - 1)
            return placed(values.At(argument, place))
    return None


def _of_number(leaf: values.Over, placed: Placed) -> ex.Expression | None:
    """An aggregate of MATCH_NUMBER(), which is the same on all rows."""
    number = placed(values.Number())
    match leaf.function:
        case "count":
            return _count(leaf, placed)
        case "sum":
            total = ex.Arithmetic("*", number, _count(leaf, placed))
            return _if_any(leaf, total, placed)
        case "avg":
            return _if_any(leaf, ex.Arithmetic("*", number, ex.Literal(1.0)), placed)
        case "min" | "max" | "arbitrary":
            return _if_any(leaf, number, placed)
    return None


def _count(leaf: values.Over, placed: Placed) -> ex.Expression:
    """How many rows an aggregate is over."""
    return placed(values.Over("count", None, leaf.variable))


def _if_any(leaf: values.Over, value: ex.Expression, placed: Placed) -> ex.Expression:
    """A value, or NULL where an aggregate is over no rows; the row at hand is one of all."""
    if leaf.variable is None:
        return value
    return ex.Case(((ex.Not(_is_none(leaf.variable, placed)), value),), NULL)


def _is_none(variable: str, placed: Placed) -> ex.Expression:
    """Whether no row has been mapped to a variable. A count would keep runs apart that differ in
    nothing else."""
    return ex.IsNull(placed(values.Over("max", ex.Literal(1), variable)))


def _by_cases(
    clause: tree.Clause,
    formula: Formula,
    expression: ex.Expression,
    placed: Placed,
    replaced: Callable[[ex.Expression], ex.Expression],
) -> ex.Expression:
    """A condition in which the greatest or the least CLASSIFIER() is told by cases: for each name,
    from the best on, what is asked where a row has it. Conjuncts stay apart."""
    if isinstance(expression, ex.And):
        operands = (
            _by_cases(clause, formula, each, placed, replaced) for each in expression.operands
        )
        return ex.And(tuple(operands), span=expression.span)
    for node in expression.walk():
        if not isinstance(node, ex.Attribute):
            continue
        leaf = formula.leaves[int(node.path[0])]
        names = _names(clause, leaf)
        if names is not None:
            branches = tuple(
                (
                    ex.Not(_is_none(name, placed)),
                    _by_cases(clause, formula, _told(expression, node, name), placed, replaced),
                )
                for name in names
            )
            none = _by_cases(clause, formula, _told(expression, node, None), placed, replaced)
            return ex.Case(branches, none)
    return replaced(expression)


def _names(clause: tree.Clause, leaf: Leaf) -> list[str] | None:
    """The names among which a leaf is the first that a row has; None if it is no such leaf."""
    if not isinstance(leaf, values.Over) or leaf.argument != ex.Attribute((LABEL,)):
        return None
    if leaf.function not in ("min", "max") or leaf.then:
        return None
    names = sorted(clause.members(leaf.variable), reverse=leaf.function == "max")
    return names if len(names) <= MOST_NAMES else None


def _told(expression: ex.Expression, leaf: ex.Attribute, name: str | None) -> ex.Expression:
    """An expression with a name in the place of a leaf."""
    if isinstance(expression, ex.Attribute) and expression.path == leaf.path:
        return ex.Literal(name)
    return ex.rebuild(expression, lambda child: _told(child, leaf, name))
