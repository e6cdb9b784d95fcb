"""Columns of events that slots keep values of, and how these values become integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.term_builder import ValueRead, kept_kind
from cereus.expr.check import check
from cereus.expr.paths import type_at
from cereus.expr.tree import Attribute, Comparison, Expression, without_variable
from cereus.expr.types import Kind

ENCODINGS = {
    Kind.INTEGER: "int",
    Kind.BOOLEAN: "int",
    Kind.FLOAT: "double",
    Kind.STRING: "string",
    Kind.TIMESTAMP: "instant",
    Kind.INTERVAL: "instant",
    Kind.NULL: "int",
}
"""How the values of each kind become integers, for terms."""


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

    def read(self, reading: ValueRead) -> int:
        """The column of what a term reads; to count events, none is needed (-1)."""
        if reading.total == "tally":
            return -1
        return self.number(Column(reading.expression, ENCODINGS[reading.kind]))


def comparable(condition: Comparison, schema: pa.Schema) -> str:
    """How both sides are made integers that compare as the values do."""
    parts = [without_variable(side) for side in (condition.left, condition.right)]
    kind = check(parts[0], schema, None, None)
    if kind is Kind.STRING:
        if condition.op not in ("=", "!="):
            raise CannotUseSlots("it compares strings by their order")
        return "string"
    if kind is Kind.NUMBER:
        plain = [_whole(part, schema) for part in parts]
        return "int" if all(plain) else "float"
    if kind is Kind.BOOLEAN:
        return "int"
    if kind is Kind.TIMESTAMP and all(isinstance(part, Attribute) for part in parts):
        types = [type_at(schema, part.path) for part in parts]  # type: ignore[attr-defined]
        if types[0] == types[1]:
            return "int"
    raise CannotUseSlots("its values are not kept as numbers")


def _whole(part: Expression, schema: pa.Schema) -> bool:
    """Whether the values are whole numbers: floats have no room for those beyond 2**53."""
    read = [type_at(schema, node.path) for node in part.walk() if isinstance(node, Attribute)]
    if pa.uint64() in read:
        raise CannotUseSlots("its values may not fit 64 bits with a sign")
    try:
        return kept_kind(part, schema) is Kind.INTEGER
    except CannotUseSlots:
        return False
