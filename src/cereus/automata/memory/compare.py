"""Which conditions between events fixed registers can decide, and how.

A comparison whose sides are about one variable each, `f(A) op g(B)`, needs of the side that comes
first one value (see `automata.registers`). Anything else is a term over what its variables hold
(`automata.related`), if those that come first hold one event each, or are only totalled. What is
left (`!=` against several events, conditions under NEXT, LAST or MAX or inside the negated part of
UNLESS) goes to states that remember values (`automata.correlate`), which decide anything, more
slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from cereus.automata.memory.related import Value
from cereus.automata.memory.slots import Side
from cereus.automata.memory.term_text import INT, NotATerm, Translation, sort_of, type_of
from cereus.automata.memory.terms import Term, leaf
from cereus.automata.model import Label
from cereus.expr.check import check
from cereus.expr.functions import Kind
from cereus.expr.tree import (
    Aggregate,
    Attribute,
    Comparison,
    Expression,
    variables,
    without_variable,
)
from cereus.languages.ceql import tree as cel

KINDS = {
    "int": "int",
    "boolean": "int",
    "float": "double",
    "string": "string",
    "timestamp": "instant",
    "interval": "instant",
    "null": "int",
}
"""How the values of each sort are kept for terms."""


class Column(NamedTuple):
    """Values of events that are compared with other events' values. `kind` says how they become
    integers: `int`, `string` (codes), `instant` (microseconds), `float` (bits in an order that
    integers have too; NaN is NULL) or `double` (bits as they are)."""

    expression: Expression
    kind: str


@dataclass
class Columns:
    """The distinct columns of a plan."""

    numbers: dict[Column, int] = field(default_factory=dict)

    def number(self, column: Column) -> int:
        return self.numbers.setdefault(column, len(self.numbers))


class Leaf(NamedTuple):
    """One place in a formula where events are marked, and by which variables."""

    place: int
    label: Label


class Order(NamedTuple):
    """The leaves of a formula, and which of them may mark an event before which other."""

    leaves: tuple[Leaf, ...]
    before: frozenset[tuple[int, int]]

    def may_follow(self, earlier: str, later: str) -> bool:
        """Whether an event of `later` may be marked after one of `earlier`."""
        return any(
            earlier in first.label and later in second.label
            for first in self.leaves
            for second in self.leaves
            if (first.place, second.place) in self.before
        )


class CannotRegister(Exception):
    """The condition is not one that registers can decide; says why."""


def refusal(condition: Expression, body: cel.Formula) -> str | None:
    """Why no registers could decide the condition, whatever the types of its columns."""
    return None if is_comparison(condition) else many_events(condition, body)


def is_comparison(condition: Expression) -> bool:
    """`f(A) op g(B)` that one value of each side decides, however many events it holds."""
    if not isinstance(condition, Comparison) or condition.op == "!=":
        return False
    names = [variables(condition.left), variables(condition.right)]
    totals = any(isinstance(node, Aggregate) for node in condition.walk())
    streams = any(">" in name for name in names[0] | names[1])  # events of one stream, S>R
    return not totals and not streams and [len(n) for n in names] == [1, 1] and names[0] != names[1]


def many_events(condition: Expression, body: cel.Formula) -> str | None:
    """Which variable's events would all have to be remembered."""
    totals = any(isinstance(node, Aggregate) for node in condition.walk())
    order = leaf_order(body)
    for own in sorted(plain_variables(condition)):
        if not order.may_follow(own, own):
            continue
        others = variables(condition) - {own}
        if totals or any(order.may_follow(own, other) for other in others):
            return f"it has to remember every event of {own}"
    if any(">" in name for name in variables(condition)):
        return "it is about the events of one stream"
    return None


def plain_variables(condition: Expression) -> frozenset[str]:
    """The variables of which attributes are read, not only totals."""
    return frozenset(
        node.variable
        for node in condition.walk()
        if isinstance(node, Attribute) and node.variable is not None
    )


def related(
    condition: Expression, body: cel.Formula, columns: Columns, schema: pa.Schema
) -> tuple[Term, tuple[Value, ...]]:
    """Any condition as a term with holes, and what fills them, or CannotRegister."""
    why = many_events(condition, body)
    if why is not None:
        raise CannotRegister(why)
    translation = Translation(condition, schema)
    try:
        leaves = translation.leaves
        term = translation.term(lambda read: leaf(leaves.index(read)))
    except NotATerm as reason:
        raise CannotRegister(str(reason)) from None
    order = leaf_order(body)
    names = variables(condition)
    totals = any(read.total for read in leaves)
    values = []
    for read in leaves:
        number = columns.number(Column(read.expression, KINDS[read.sort]))
        needed = totals or any(order.may_follow(read.variable, n) for n in names - {read.variable})
        values.append(Value(read.variable, number, read.total or "set", needed))
    return term, tuple(values)


def sides(
    condition: Expression, body: cel.Formula, columns: Columns, schema: pa.Schema
) -> tuple[str, Side, Side]:
    """`f(A) op g(B)` (`is_comparison`) as an operator and two sides, or CannotRegister."""
    assert isinstance(condition, Comparison)
    left, right = (next(iter(variables(s))) for s in (condition.left, condition.right))
    kind = comparable(condition, schema)
    order = leaf_order(body)
    made = []
    for own, other, expression in (
        (left, right, condition.left),
        (right, left, condition.right),
    ):
        needed = order.may_follow(own, other)
        repeats = order.may_follow(own, own)
        column = columns.number(Column(without_variable(expression), kind))
        made.append(Side(own, column, needed, repeats))
    return condition.op, made[0], made[1]


def comparable(condition: Comparison, schema: pa.Schema) -> str:
    """How both sides are made integers that compare as the values do."""
    parts = [without_variable(side) for side in (condition.left, condition.right)]
    kind = check(parts[0], schema, None, None)
    if kind is Kind.STRING:
        if condition.op not in ("=", "!="):
            raise CannotRegister("it compares strings by their order")
        return "string"
    if kind is Kind.NUMBER:
        plain = [_whole(part, schema) for part in parts]
        return "int" if all(plain) else "float"
    if kind is Kind.BOOLEAN:
        return "int"
    if kind is Kind.TIMESTAMP and all(isinstance(part, Attribute) for part in parts):
        types = [type_of(schema, part.path) for part in parts]  # type: ignore[attr-defined]
        if types[0] == types[1]:
            return "int"
    raise CannotRegister("its values are not kept as numbers")


def _whole(part: Expression, schema: pa.Schema) -> bool:
    """Whether the values are whole numbers: floats have no room for those beyond 2**53."""
    read = [type_of(schema, node.path) for node in part.walk() if isinstance(node, Attribute)]
    if pa.uint64() in read:
        raise CannotRegister("its values may not fit 64 bits with a sign")
    try:
        return sort_of(part, schema) == INT
    except NotATerm:
        return False


def leaf_order(formula: cel.Formula) -> Order:
    """Leaves and their order, as far as the formula's shape tells (it errs on the safe side)."""
    counter = iter(range(10**9))

    def visit(node: cel.Formula) -> Order:
        match node:
            case cel.Type(name, stream):
                label = frozenset({name} if stream is None else {name, f"{stream}>{name}"})
                return Order((Leaf(next(counter), label),), frozenset())
            case cel.Not():
                return Order((), frozenset())
            case cel.As(body, variable):
                leaves, before = visit(body)
                return Order(tuple(Leaf(p, lab | {variable}) for p, lab in leaves), before)
            case cel.Project(names, body):
                leaves, before = visit(body)
                return Order(tuple(Leaf(p, lab & names) for p, lab in leaves), before)
            case cel.Unless(left, _):
                return visit(left)
            case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
                return _both(visit(left), visit(right), forward=True, backward=False)
            case cel.Or(left, right):
                return _both(visit(left), visit(right), forward=False, backward=False)
            case cel.And(left, right) | cel.All(left, right):
                return _both(visit(left), visit(right), forward=True, backward=True)
            case cel.Iteration(body) | cel.ContiguousIteration(body):
                leaves, _ = visit(body)
                return Order(leaves, _pairs(leaves, leaves))
        (body,) = node.children()
        return visit(body)

    return visit(formula)


def _pairs(first: tuple[Leaf, ...], second: tuple[Leaf, ...]) -> frozenset[tuple[int, int]]:
    return frozenset((a.place, b.place) for a in first for b in second)


def _both(left: Order, right: Order, *, forward: bool, backward: bool) -> Order:
    before = left.before | right.before
    if forward:
        before |= _pairs(left.leaves, right.leaves)
    if backward:
        before |= _pairs(right.leaves, left.leaves)
    return Order(left.leaves + right.leaves, before)
