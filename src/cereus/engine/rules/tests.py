"""The tests of many rules of one shape: which rules does a row concern, and which of their tests
does it pass?

1. What all rules ask alike is asked once for all rows (`Letters`).
2. Where they ask for different constants, an index lists the rules that a row can concern
   (`index`), and what the index leaves open is evaluated on these pairs of a row and a rule only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.letters import Letters
from cereus.engine.rules.index import Everyone, Index, Ints, compared, index_of
from cereus.engine.rules.shape import CONSTANT, Constants, TestForm
from cereus.expr import tree as ex
from cereus.expr.arrow import operators as op
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, constant
from cereus.expr.paths import column_at
from cereus.plan.tests import EventTest

Masks = npt.NDArray[np.uint64]
SAMPLE = 512
"""So many rows of a batch show which of several indexes lists the fewest rules."""


class Pairs(NamedTuple):
    """Rows of a batch with rules that they concern, and the tests that they pass there; rows
    ascend."""

    rows: Ints
    rules: Ints
    masks: Masks


@dataclass(frozen=True)
class Varying:
    """A condition of all rules whose constants differ; of each constant a value per rule."""

    condition: ex.Expression
    constants: tuple[Vector, ...]

    def holds(self, batch: pa.RecordBatch, rows: Ints, rules: Ints) -> npt.NDArray[np.bool_]:
        """For every pair of a row and a rule."""
        columns: dict[ex.Attribute, pa.Array | Vector] = {}
        places = pa.array(rows)
        for node in self.condition.walk():
            if not isinstance(node, ex.Attribute):
                continue
            if node.path[0] == CONSTANT:
                columns[node] = _taken(self.constants[int(node.path[1])], rules)
            else:
                columns[node] = column_at(batch, node.path).take(places)
        truth = op.truth(value_of(self.condition, columns)).values
        return truth if np.ndim(truth) else np.full(len(rows), truth)


class VaryingTest:
    """One test of all rules, whose constants differ somewhere."""

    def __init__(self, form: TestForm, constants: Mapping[int, Sequence[Constants]], bit: int,
                 schema: pa.Schema) -> None:  # fmt: skip
        self.bit = bit
        rules = np.array(sorted(constants), np.int64)
        self._everyone = Everyone(rules)
        self.varying: list[Varying] = []
        self.indexes: list[tuple[Index, int]] = []
        size = int(rules[-1]) + 1 if len(rules) else 0
        for place, condition in enumerate(form.conditions):
            values = [constants[rule][place] for rule in rules.tolist()]
            if len(set(values)) < 2:
                continue
            vectors = tuple(_vector([v[n] for v in values], rules, size) for n in _upto(values))
            for each in compared(condition):
                of_rules = [v[each.place] for v in values]
                index = index_of(each, of_rules, rules, schema)
                if index is not None:
                    self.indexes.append((index, len(self.varying)))
            self.varying.append(Varying(condition, vectors))
        self._alone = {n for n in range(len(self.varying)) if self._is_single(n)}

    def _is_single(self, number: int) -> bool:
        """An index decides the whole condition, not a part of it."""
        return len(compared(self.varying[number].condition)) == 1 and not isinstance(
            self.varying[number].condition, ex.And
        )

    def pairs(self, batch: pa.RecordBatch, rows: Ints) -> tuple[Ints, Ints]:
        """Those of these rows that pass the test of a rule, each with the rule."""
        index, of = self._chosen(batch, rows)
        at, rules = index.stretches(batch, rows).pairs()
        chosen = rows[at]
        for number, each in enumerate(self.varying):
            decided = number == of and index.exact and number in self._alone
            if len(chosen) and not decided:
                passed = each.holds(batch, chosen, rules)
                chosen, rules = chosen[passed], rules[passed]
        return chosen, rules

    def total(self, batch: pa.RecordBatch, rows: Ints) -> Ints:
        """How many rules each row may concern."""
        index, _ = self._chosen(batch, rows)
        stretches = index.stretches(batch, rows)
        return stretches.end - stretches.begin

    def _chosen(self, batch: pa.RecordBatch, rows: Ints) -> tuple[Index, int]:
        """The index that lists the fewest rules, by a sample of the rows."""
        if not self.indexes:
            return self._everyone, -1
        if len(self.indexes) == 1:
            return self.indexes[0]
        sample = rows[:: max(1, len(rows) // SAMPLE)]
        return min(self.indexes, key=lambda each: each[0].stretches(batch, sample).total)


class RuleTests:
    """The tests of the rules with these numbers, ready for batches of one schema."""

    def __init__(
        self,
        forms: tuple[TestForm, ...],
        constants: Mapping[int, Sequence[Sequence[Constants]]],
        schema: pa.Schema,
    ) -> None:
        self.rules = np.array(sorted(constants), np.int64)
        self.size = int(self.rules[-1]) + 1 if len(constants) else 0
        self.varying: list[VaryingTest] = []
        common: list[EventTest] = []
        alike = 0
        for bit, form in enumerate(forms):
            of_test = {rule: values[bit] for rule, values in constants.items()}
            test = VaryingTest(form, of_test, bit, schema)
            if test.varying:
                self.varying.append(test)
            else:
                alike |= 1 << bit
            common.append(_common(form, next(iter(of_test.values())), of_test))
        self.alike = np.uint64(alike)
        """The tests that all rules ask alike."""
        self._letters = Letters(common, None, None, schema)
        self._known: dict[int, int] = {}

    def common(self, batch: pa.RecordBatch) -> tuple[Ints, Masks]:
        """The rows that may concern some rule, and the tests of which what all rules ask holds."""
        rows, classes = self._letters.classify(batch, self._known)
        return rows, np.array(list(self._known) or [0], np.uint64)[classes]

    def pairs(self, batch: pa.RecordBatch, rows: Ints, masks: Masks) -> Pairs:
        """All pairs that pass a test whose constants differ."""
        parts = [
            (*test.pairs(batch, passing), np.uint64(1 << test.bit))
            for test, passing in self._passing(rows, masks)
        ]
        return joined(parts, self.size)

    def totals(self, batch: pa.RecordBatch, rows: Ints, masks: Masks) -> Ints:
        """At most how many pairs each of these rows makes."""
        totals = np.zeros(batch.num_rows, np.int64)
        for test, passing in self._passing(rows, masks):
            totals[passing] += test.total(batch, passing)
        return totals

    def _passing(self, rows: Ints, masks: Masks) -> Iterator[tuple[VaryingTest, Ints]]:
        for test in self.varying:
            passing = rows[(masks & np.uint64(1 << test.bit)) != 0]
            if len(passing):
                yield test, passing


def joined(parts: Sequence[tuple[Ints, Ints, Any]], size: int) -> Pairs:
    """Pairs of several tests in one list: a pair that passes several is there once. Each part has
    the rows, the rules and the tests that are passed."""
    parts = [part for part in parts if len(part[0])]
    if not parts:
        none = np.zeros(0, np.int64)
        return Pairs(none, none, np.zeros(0, np.uint64))
    masks = [np.broadcast_to(mask, len(rows)) for rows, _, mask in parts]
    if len(parts) == 1:
        return Pairs(parts[0][0], parts[0][1], masks[0])
    numbers = np.concatenate([rows * size + rules for rows, rules, _ in parts])
    order = np.argsort(numbers, kind="stable")
    numbers, together = numbers[order], np.concatenate(masks)[order]
    first = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    numbers = numbers[first]
    return Pairs(numbers // size, numbers % size, np.bitwise_or.reduceat(together, first))


def _common(
    form: TestForm, first: Sequence[Constants], constants: Mapping[int, Sequence[Constants]]
) -> EventTest:
    """What all rules ask alike in one test."""
    conditions = [
        _filled(condition, first[place])
        for place, condition in enumerate(form.conditions)
        if len({each[place] for each in constants.values()}) < 2
    ]
    return EventTest(conditions=tuple(conditions), negated=form.negated)


def _filled(condition: ex.Expression, values: Constants) -> ex.Expression:
    """A condition with constants in their places."""
    if isinstance(condition, ex.Attribute) and condition.path[0] == CONSTANT:
        return ex.Literal(values[int(condition.path[1])])
    return ex.rebuild(condition, lambda child: _filled(child, values))


def _upto(values: Sequence[Constants]) -> range:
    return range(len(values[0]))


def _vector(values: list[Any], rules: Ints, size: int) -> Vector:
    """The constants of all rules at one place, by the numbers of the rules."""
    kinds = [constant(value) for value in values]
    first = kinds[0]
    if isinstance(first.values, pa.Scalar):
        words: list[Any] = [None] * size
        for rule, value in zip(rules.tolist(), values, strict=True):
            words[rule] = value
        return Vector(first.kind, pa.array(words, first.values.type))
    numbers = np.zeros(size, np.asarray(first.values).dtype)
    numbers[rules] = [each.values for each in kinds]
    return Vector(first.kind, numbers, unit=first.unit)


def _taken(vector: Vector, rules: Ints) -> Vector:
    if isinstance(vector.values, pa.Array):
        return Vector(vector.kind, vector.values.take(pa.array(rules)))
    return Vector(vector.kind, vector.values[rules], unit=vector.unit)
