"""Which conditions between events fixed registers can decide, and how.

A comparison whose sides are about one variable each, `f(A) op g(B)`, needs of the side that comes
first one value (see `automata.registers`). Everything else (three variables, `!=` against several
events, aggregates, conditions under NEXT, LAST or MAX or inside the negated part of UNLESS) goes to
states that remember values (`automata.correlate`), which decide anything, more slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from cereus.automata.automaton import Label
from cereus.automata.registers import Side
from cereus.lang import cel
from cereus.lang.check import check
from cereus.lang.expression import (
    Aggregate,
    Attribute,
    Comparison,
    Expression,
    variables,
    without_variable,
)
from cereus.lang.functions import Kind


class Column(NamedTuple):
    """Values of events that are compared with other events' values; `kind` says how they sort."""

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
    if any(isinstance(node, Aggregate) for node in condition.walk()):
        return "it has an aggregate"
    if len(variables(condition)) > 2:
        return f"it is about {len(variables(condition))} variables"
    if not isinstance(condition, Comparison):
        return "it is not a comparison"
    names = [variables(condition.left), variables(condition.right)]
    if any(len(n) != 1 for n in names) or names[0] == names[1]:
        return "one side of it is about two variables"
    left, right = (next(iter(n)) for n in names)
    if ">" in left + right:  # events of one stream, S>R
        return "it is about the events of one stream"
    order = leaf_order(body)
    for own, other in ((left, right), (right, left)):
        if condition.op == "!=" and order.may_follow(own, other) and order.may_follow(own, own):
            return f"!= has to remember every event of {own}"
    return None


def sides(
    condition: Expression, body: cel.Formula, columns: Columns, schema: pa.Schema
) -> tuple[str, Side, Side]:
    """`f(A) op g(B)` as an operator and two sides, or CannotRegister."""
    why = refusal(condition, body)
    if why is not None:
        raise CannotRegister(why)
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
        if condition.op == "!=" and needed and kind == "float":
            raise CannotRegister("!= has to tell NaN from NULL")
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
        types = [_type(schema, part.path) for part in parts]  # type: ignore[attr-defined]
        if types[0] == types[1]:
            return "int"
    raise CannotRegister("its values are not kept as numbers")


def _whole(part: Expression, schema: pa.Schema) -> bool:
    return isinstance(part, Attribute) and pa.types.is_integer(_type(schema, part.path))


def _type(schema: pa.Schema, path: tuple[str, ...]) -> pa.DataType:
    kind = schema.field(path[0]).type
    for step in path[1:]:
        kind = kind.field(step).type
    return kind


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
