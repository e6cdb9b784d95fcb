"""The syntax tree of conditions, shared by every language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cereus.syntax.tree import Tree
from cereus.syntax.tree import rebuild as rebuild

Rewrite = Callable[["Expression"], "Expression"]
LiteralValue = int | float | str | bool | datetime | timedelta | None


@dataclass(frozen=True)
class Expression(Tree["Expression"]):
    """Anything that has a value for an event, or for one event per variable."""


@dataclass(frozen=True, eq=False)
class Literal(Expression):
    """A number, string, boolean, timestamp, interval or NULL (None).

    `4` and `4.0` are different literals, though equal numbers: `x * 4` may overflow."""

    value: LiteralValue

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._typed_value == other._typed_value

    def __hash__(self) -> int:
        return hash(self._typed_value)

    @property
    def _typed_value(self) -> tuple[type, LiteralValue]:
        return type(self.value), self.value


@dataclass(frozen=True)
class Attribute(Expression):
    """`price`, `place.city` (path), or `a.price` of the variable `a` in a filter.

    `variable` is None for the event at hand (inside `A[…]`).
    """

    path: tuple[str, ...]
    variable: str | None = None

    @property
    def name(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True)
class Negate(Expression):
    """`-x`"""

    operand: Expression


@dataclass(frozen=True)
class Arithmetic(Expression):
    """`+ - * / %`; `/` is true division, and anything `/ 0` or `% 0` is NULL (never true)."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Comparison(Expression):
    """`= != < <= > >=` (`==` and `<>` are read as `=` and `!=`)."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class And(Expression):
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Or(Expression):
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Not(Expression):
    operand: Expression


@dataclass(frozen=True)
class In(Expression):
    """`x IN (1, 2)` or `x IN {1, 2}`; items are literals. `NOT IN` is Not(In(…))."""

    operand: Expression
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Between(Expression):
    """`x BETWEEN 1 AND 5`, `x IN {1..5}`, `x IN {1..}`, `x IN {..5}`; a missing bound is None."""

    operand: Expression
    low: Expression | None
    high: Expression | None


@dataclass(frozen=True)
class Like(Expression):
    """SQL `LIKE` with `%` and `_`, and a backslash before those that are meant; the whole string
    must match. `x ILIKE p` is `lower(x) LIKE lower(p)`."""

    operand: Expression
    pattern: str


@dataclass(frozen=True)
class Regexp(Expression):
    """A regular expression (RE2's syntax) that must match somewhere in the string."""

    operand: Expression
    pattern: str


@dataclass(frozen=True)
class IsNull(Expression):
    """`x IS NULL`; `IS NOT NULL` is Not(IsNull(…))."""

    operand: Expression


CONDITIONS = (Comparison, And, Or, Not, In, Between, Like, Regexp, IsNull)
"""The nodes that are true, false or NULL, whatever they are made of."""


@dataclass(frozen=True)
class Case(Expression):
    """`CASE WHEN c THEN v … ELSE d END`."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None


@dataclass(frozen=True)
class Call(Expression):
    """A scalar function of `expr.functions`, by its lower-case name."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Aggregate(Expression):
    """`sum(b.volume)`, `avg min max count first last stddev percentile` over the events of a set
    variable. `parameter` is the part of percentile, from 0 to 1."""

    function: str
    variable: str
    attribute: tuple[str, ...] | None
    parameter: float | None = field(default=None, kw_only=True)


def variables(expression: Expression) -> frozenset[str]:
    """The variables that an expression mentions."""
    names = set()
    for node in expression.walk():
        if isinstance(node, Attribute | Aggregate) and node.variable is not None:
            names.add(node.variable)
    return frozenset(names)


def attributes(expression: Expression) -> frozenset[tuple[str, ...]]:
    """The attribute paths that an expression reads, whatever the variable."""
    paths: set[tuple[str, ...]] = set()
    for node in expression.walk():
        if isinstance(node, Attribute):
            paths.add(node.path)
        elif isinstance(node, Aggregate) and node.attribute is not None:
            paths.add(node.attribute)
    return frozenset(paths)


def without_variable(expression: Expression) -> Expression:
    """The same expression with every attribute read from the event at hand."""
    if isinstance(expression, Attribute):
        return replace(expression, variable=None)
    return rebuild(expression, without_variable)


def has_aggregates(expression: Expression) -> bool:
    """Whether an expression is about all events of a variable, and not about each alone."""
    return any(isinstance(node, Aggregate) for node in expression.walk())


def about(condition: Expression, variable: str) -> Expression:
    """The same condition on another variable."""
    if isinstance(condition, Attribute):
        return replace(condition, variable=variable)
    return rebuild(condition, lambda child: about(child, variable))


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction."""
    if isinstance(condition, And):
        return tuple(part for each in condition.operands for part in conjuncts(each))
    return (condition,)


def conjunction(parts: Iterable[Expression]) -> Expression | None:
    """The AND of some conditions: the one that there is, or None if there is none."""
    parts = tuple(parts)
    return And(parts) if len(parts) > 1 else next(iter(parts), None)
