"""The syntax tree of conditions, shared by every language.

Nodes are immutable and compare by what they say; `span` (where the text stood) is
carried along for error messages and takes no part in equality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from operator import is_
from typing import Any, TypeGuard

from cereus.errors import Span

Rewrite = Callable[["Expression"], "Expression"]
LiteralValue = int | float | str | bool | datetime | timedelta | None


_FIELDS: dict[type, tuple[str, ...]] = {}


def field_names(node: Any) -> tuple[str, ...]:
    """The fields of a node that say something; kept for its class, since every walk over a tree
    asks for them."""
    names = _FIELDS.get(type(node))
    if names is None:
        every = (each.name for each in fields(node))
        names = _FIELDS[type(node)] = tuple(name for name in every if name != "span")
    return names


@dataclass(frozen=True)
class Expression:
    """Anything that has a value for an event, or for one event per variable."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    def children(self) -> tuple[Expression, ...]:
        """The nodes right below this one."""
        return self._children

    @cached_property
    def _children(self) -> tuple[Expression, ...]:
        """Kept, as every walk over a tree asks for them."""
        return tuple(self._operands())

    def _operands(self) -> Iterator[Expression]:
        for name in field_names(self):
            value = getattr(self, name)
            if isinstance(value, Expression):
                yield value
            elif isinstance(value, tuple):
                for item in value:
                    if isinstance(item, Expression):
                        yield item
                    elif isinstance(item, tuple):
                        yield from (part for part in item if isinstance(part, Expression))

    def walk(self) -> Iterator[Expression]:
        """This node and all below it, top down."""
        waiting: list[Expression] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children())


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


def rebuild(expression: Expression, change: Rewrite) -> Expression:
    """A copy of `expression` whose direct children went through `change`; itself, where they are
    as they were."""
    if not expression.children():
        return expression
    changed: dict[str, object] = {}
    for name in field_names(expression):
        value = getattr(expression, name)
        if isinstance(value, Expression):
            part: object = change(value)
        elif _lists_expressions(value):
            part = _rebuilt(value, change)
        else:
            continue
        if part is not value:
            changed[name] = part
    return replace(expression, **changed) if changed else expression  # type: ignore[arg-type]


Operands = tuple["Expression | Operands", ...]


def _rebuilt(operands: Operands, change: Rewrite) -> Operands:
    """Listed operands after `change`; the same tuple, where they are as they were."""
    made = tuple(
        _rebuilt(each, change) if isinstance(each, tuple) else change(each) for each in operands
    )
    return operands if all(map(is_, made, operands)) else made


def _lists_expressions(value: object) -> TypeGuard[Operands]:
    """A field lists operands, or pairs of them as CASE does (and not names)."""
    first = value[0] if isinstance(value, tuple) and value else None
    return isinstance(first[0] if isinstance(first, tuple) and first else first, Expression)


def is_local(condition: Expression) -> bool:
    """A condition on one variable is about each event alone (no aggregate)."""
    return not any(isinstance(node, Aggregate) for node in condition.walk())


def about(condition: Expression, variable: str) -> Expression:
    """The same condition on another variable."""
    if isinstance(condition, Attribute):
        return replace(condition, variable=variable)
    return rebuild(condition, lambda child: about(child, variable))
