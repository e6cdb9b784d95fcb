"""Rewrites conditions on lists, CLASSIFIER() and MATCH_NUMBER() into operations that the compiled
kernel knows.

`cardinality(array_agg(a.x))` is a count, `array_agg(a.x)[2]` the second row of a, the greatest
`CLASSIFIER()` the last of the names that rows have been mapped to, and a sum of `MATCH_NUMBER()` is
that number times a count. Of a variable that has at most one row, `FIRST(a.x)` is `a.x`. A
condition that is not rewritten stays as it is, and is searched in Python.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, prod

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, BoundFormula, Leaf, attribute

MOST_CASES = 64
"""The most cases of a condition: each case repeats the condition."""
MOST_NAMES = 16
"""The most variables among which the greatest or the least name is found by cases."""


def rewritten(clause: tree.Clause, formula: BoundFormula, variable: str) -> BoundFormula:
    """The condition of a variable, with leaves that the kernel computes wherever that is
    possible."""
    return _Rewriting(clause, formula, variable).formula_of_slots()


def is_text(leaf: Leaf) -> bool:
    """Whether a leaf is a text of several rows, of which only tests are computed."""
    if not isinstance(leaf, values.Over):
        return False
    joined = [then.function for then in leaf.then] == ["array_join"]
    return leaf.function == "string_agg" or (leaf.function == "array_agg" and joined)


def is_distinct(leaf: Leaf) -> bool:
    """Whether a leaf is the number of different values."""
    if not isinstance(leaf, values.Over) or leaf.function != "array_agg":
        return False
    return [then.function for then in leaf.then] == ["array_distinct", "cardinality"]


def _most_rows(pattern: tree.Pattern, names: frozenset[str]) -> float:
    """The most rows that a pattern maps to these variables."""
    match pattern:
        case tree.Variable(name):
            return name in names
        case tree.Quantified(part, _, high):
            rows = _most_rows(part, names)
            return rows and rows * (inf if high is None else high)
        case tree.Alternation(parts):
            return max(_most_rows(part, names) for part in parts)
    return sum(_most_rows(part, names) for part in pattern.children())


class _Rewriting:
    """Rewrites the condition of a variable, whose rows include the one at hand."""

    def __init__(self, clause: tree.Clause, formula: BoundFormula, variable: str) -> None:
        self.clause, self.formula, self.variable = clause, formula, variable
        self.leaves: dict[Leaf, int] = {}

    def formula_of_slots(self) -> BoundFormula:
        expression = self.by_cases(self.formula.expression)
        return BoundFormula(expression, tuple(self.leaves))

    def placed(self, leaf: Leaf) -> ex.Expression:
        """The attribute that stands for a leaf in the new formula, which gets the leaf."""
        return attribute(self.leaves.setdefault(leaf, len(self.leaves)))

    def leaf(self, name: str) -> Leaf:
        """The leaf that an attribute of the original formula stands for."""
        return self.formula.leaves[int(name)]

    def replaced(self, node: ex.Expression) -> ex.Expression:
        match node:
            case ex.Attribute((name,)):
                leaf = self.leaf(name)
                return self.computed(leaf) or self.placed(leaf)
            case ex.IsNull(ex.Attribute((name,))) if is_text(self.leaf(name)):
                return ex.IsNull(ex.Like(self.placed(self.leaf(name)), "%"))
        return ex.rebuild(node, self.replaced)

    def computed(self, leaf: Leaf) -> ex.Expression | None:
        """A leaf expressed by others; None if it stays as it is."""
        if isinstance(leaf, values.At):
            return self.placed(replace(leaf, place=self.of_only_row(leaf.place)))
        if not isinstance(leaf, values.Over) or leaf.argument is None:
            return None
        if leaf.function == "array_agg" and len(leaf.then) == 1:
            return self.taken(leaf, leaf.argument, leaf.then[0])
        if leaf.argument == ex.Attribute((NUMBER,)) and not leaf.then:
            return self.of_number(leaf)
        return None

    def of_only_row(self, place: values.Place) -> values.Place:
        """The last row of a variable for the first one, if there is no other."""
        only = place.first and not place.offset and place.variable is not None
        if not only or _most_rows(self.clause.pattern, self.clause.members(place.variable)) > 1:
            return place
        return replace(place, first=False)

    def taken(
        self, leaf: values.Over, argument: ex.Expression, then: values.Then
    ) -> ex.Expression | None:
        """The value that is taken out of the list of all values."""
        match then.function, then.given:
            case "cardinality", ():
                return self.if_any(leaf, self.count(leaf))
            case "element_at", (int(key),) if key != 0:
                place = values.Place(leaf.variable, first=key > 0, offset=abs(key) - 1)
                return self.placed(values.At(argument, place))
        return None

    def of_number(self, leaf: values.Over) -> ex.Expression | None:
        """An aggregate of MATCH_NUMBER(), which is the same on all rows."""
        number = self.placed(values.Number())
        match leaf.function:
            case "count":
                return self.count(leaf)
            case "sum":
                return self.if_any(leaf, ex.Arithmetic("*", number, self.count(leaf)))
            case "avg":
                return self.if_any(leaf, ex.Arithmetic("*", number, ex.Literal(1.0)))
            case "min" | "max" | "arbitrary":
                return self.if_any(leaf, number)
        return None

    def count(self, leaf: values.Over) -> ex.Expression:
        """The number of rows of an aggregate."""
        return self.placed(values.Over("count", None, leaf.variable))

    def if_any(self, leaf: values.Over, value: ex.Expression) -> ex.Expression:
        """A value, or NULL if an aggregate has no rows."""
        if leaf.variable is None or self.variable in self.clause.members(leaf.variable):
            return value
        return ex.Case(((self.is_mapped(leaf.variable), value),), ex.Literal(None))

    def is_mapped(self, variable: str) -> ex.Expression:
        """Whether a row has been mapped to a variable. It is not a count, which would keep runs
        apart that differ in nothing else."""
        return ex.Not(ex.IsNull(self.placed(values.Over("max", ex.Literal(1), variable))))

    def by_cases(self, expression: ex.Expression) -> ex.Expression:
        """A condition in which the greatest or the least CLASSIFIER() is replaced by cases: for
        each name, from the best on, the condition with that name, if a row has it. Conjuncts stay
        separate."""
        if isinstance(expression, ex.And):
            return ex.And(tuple(map(self.by_cases, expression.operands)), span=expression.span)
        named = {
            node: names
            for node in expression.walk()
            if isinstance(node, ex.Attribute)
            and (names := self.names(self.leaf(node.path[0]))) is not None
        }
        if not named or prod(map(len, named.values())) > MOST_CASES:
            return self.replaced(expression)
        leaf, names = next(iter(named.items()))
        return self.cases(expression, leaf, names)

    def cases(
        self, expression: ex.Expression, leaf: ex.Attribute, names: list[str]
    ) -> ex.Expression:
        """The cases. The row at hand has the name of the variable, so later names need no case."""
        has_name = self.variable in names
        if has_name:
            names = names[: names.index(self.variable)]
        last = self.by_cases(_with_name(expression, leaf, self.variable if has_name else None))
        branches = tuple(
            (self.is_mapped(name), self.by_cases(_with_name(expression, leaf, name)))
            for name in names
        )
        return ex.Case(branches, last) if branches else last

    def names(self, leaf: Leaf) -> list[str] | None:
        """The names among which a leaf is the first that a row has; None if it is not such a
        leaf."""
        if not isinstance(leaf, values.Over) or leaf.argument != ex.Attribute((LABEL,)):
            return None
        if leaf.function not in ("min", "max") or leaf.then:
            return None
        names = sorted(self.clause.members(leaf.variable), reverse=leaf.function == "max")
        return names if len(names) <= MOST_NAMES else None


def _with_name(expression: ex.Expression, leaf: ex.Attribute, name: str | None) -> ex.Expression:
    """An expression with a name in the place of a leaf."""
    if isinstance(expression, ex.Attribute) and expression.path == leaf.path:
        return ex.Literal(name)
    return ex.rebuild(expression, lambda child: _with_name(child, leaf, name))
