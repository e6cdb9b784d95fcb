"""Columns of events whose values slots keep, and how these values become integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from cereus.automata.memory.decimals import MOST_DIGITS, is_exact, scale_and_digits
from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.term_builder import ValueRead, kept_kind
from cereus.expr.check import check, value_kind
from cereus.expr.paths import type_at
from cereus.expr.tree import Attribute, Comparison, Expression, Literal, without_variable
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


NANOSECONDS = "instant ns"


class Column(NamedTuple):
    """Values of events that are compared with values of other events. `kind` says how they become
    integers: `int`, `string` (codes), `instant` (microseconds), `instant ns` (nanoseconds), `float`
    (bits in an order that integers have too; NaN is NULL), `double` (bits as they are), `decimal 2`
    (hundredths), `word0 2` to `word2 2` (one of three words of them, `decimals.words_of`), `text 2`
    (codes of texts with two places), or `watched 0` (the answers of the first watched part)."""

    expression: Expression
    kind: str

    @property
    def watched(self) -> int | None:
        """The number of the watched part whose answers this column has; -1: the column has the
        ordinals of the events."""
        name, _, number = self.kind.partition(" ")
        return int(number) if name == "watched" else None


@dataclass
class Columns:
    """The distinct columns of a plan."""

    numbers: dict[Column, int] = field(default_factory=dict)

    def number(self, column: Column) -> int:
        return self.numbers.setdefault(column, len(self.numbers))

    def ordinal(self) -> int:
        """The column of the events' own ordinals, which the runner fills in."""
        return self.watched(-1)

    def watched(self, number: int) -> int:
        """The column of a watched part (`exception`), which the runner fills in."""
        return self.number(Column(Literal(0), f"watched {number}"))

    def read(self, reading: ValueRead) -> int:
        """The column of what a term reads; -1 for counting events, which needs none."""
        if reading.total == "tally":
            return -1
        kind = NANOSECONDS if reading.fine else ENCODINGS.get(reading.kind, "")
        if reading.scale is not None:
            word = "decimal" if reading.word is None else f"word{reading.word}"
            kind = f"{word} {reading.scale}"
        return self.number(Column(reading.expression, kind))


def comparable(condition: Comparison, schema: pa.Schema) -> str:
    """How both sides become integers that compare as the values do."""
    parts = [without_variable(side) for side in (condition.left, condition.right)]
    kind = check(parts[0], schema, None, None)
    if kind is Kind.STRING:
        if condition.op not in ("=", "!="):
            raise CannotUseSlots("it compares strings by their order")
        return "string"
    if kind is Kind.NUMBER:
        if any(value_kind(part, schema) is Kind.DECIMAL for part in parts):
            return _decimals(parts, condition.op, schema)
        plain = [_are_integers(part, schema) for part in parts]
        return "int" if all(plain) else "float"
    if kind is Kind.BOOLEAN:
        return "int"
    if kind is Kind.TIMESTAMP and all(isinstance(part, Attribute) for part in parts):
        types = [type_at(schema, part.path) for part in parts]  # type: ignore[attr-defined]
        if types[0] == types[1]:
            return "int"
    raise CannotUseSlots("its values are not kept as numbers")


def _decimals(parts: list[Expression], op: str, schema: pa.Schema) -> str:
    """How columns of decimals and integers are compared exactly: as integers in units of the finest
    scale where 18 digits are enough; else, for equality, as texts of that scale."""
    types = [type_at(schema, part.path) for part in parts if isinstance(part, Attribute)]
    if len(types) < len(parts) or not all(map(is_exact, types)):
        return "float"
    scale, digits = scale_and_digits(types)
    if digits <= MOST_DIGITS:
        return f"decimal {scale}"
    if digits > 76 or op not in ("=", "!="):
        raise CannotUseSlots(f"its decimals have more than {MOST_DIGITS} digits")
    return f"text {scale}"


def _are_integers(part: Expression, schema: pa.Schema) -> bool:
    """Whether the values are whole numbers: floats cannot hold all of those beyond 2**53."""
    read = [type_at(schema, node.path) for node in part.walk() if isinstance(node, Attribute)]
    if pa.uint64() in read:
        raise CannotUseSlots("its values may not fit 64 bits with a sign")
    try:
        return kept_kind(part, schema) is Kind.INTEGER
    except CannotUseSlots:
        return False
