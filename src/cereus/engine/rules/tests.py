"""Evaluates the tests of many rules of one shape: which rules does a row concern, and which of
their tests does it pass?

1. Tests that are the same in all rules are evaluated once for all rows (`Letters`).
2. For tests with different constants, an index lists the rules that a row can concern (`index`).
   The rest of these tests is evaluated only for these pairs of a row and a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.letters import Letters
from cereus.engine.memory import taken
from cereus.engine.rules import routing
from cereus.engine.rules.index import OPS, Codes, ColumnCheck, Floats, Ints, Stretches, checks_of
from cereus.engine.rules.shape import CONSTANT, Constants, TestForm
from cereus.expr import tree as ex
from cereus.expr.arrow import operators as op
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, constant
from cereus.expr.paths import column_at
from cereus.plan.tests import EventTest
from cereus.stream import Stream

Masks = npt.NDArray[np.uint64]
SAMPLE = 512
"""The number of rows of a batch that show which of several indexes lists the fewest rules."""


Part = tuple[np.uint64, Ints, Codes]
"""The pairs that pass a test: its bit, the rows, and the rules."""


class Pairs(NamedTuple):
    """Rows of a batch with rules that they concern, and the tests that they pass there; rows
    ascend."""

    rows: Ints
    rules: Codes
    masks: Masks


class Concerning(NamedTuple):
    """The rows of a batch that may concern some rule.

    batch   what tests read, of the rows at `rows`, or of all
    chosen  the rows of it that may concern a rule
    masks   of these the tests of which what all rules ask holds
    alike   by row of the whole batch, the tests that are passed of those that all rules ask alike
    """

    batch: pa.RecordBatch
    rows: Ints | None
    chosen: Ints
    masks: Masks
    alike: Masks

    def in_batch(self, places: Ints) -> Ints:
        """Places as rows of the whole batch."""
        return places if self.rows is None else taken(self.rows, places)


@dataclass(frozen=True)
class Varying:
    """A condition whose constants differ from rule to rule.

    constants  of each place the values of all rules, by the number of the rule
    checks     the same condition as comparisons of numbers, where that is what it is
    """

    condition: ex.Expression
    constants: tuple[Vector, ...]
    checks: tuple[ColumnCheck, ...] | None

    @classmethod
    def of(
        cls, condition: ex.Expression, constants: Mapping[int, Constants], schema: pa.Schema
    ) -> Varying:
        places = range(len(next(iter(constants.values()))))
        vectors = [_vector({r: values[n] for r, values in constants.items()}) for n in places]
        checks = checks_of(condition, constants, schema)
        return cls(condition, tuple(vectors), None if checks is None else tuple(checks))

    def holds(self, batch: pa.RecordBatch, rows: Ints, rules: Codes) -> npt.NDArray[np.bool_]:
        """Whether the condition holds, for every pair of a row and a rule."""
        columns: dict[ex.Attribute, pa.Array | Vector] = {}
        places = pa.array(rows)
        for node in self.condition.walk():
            if not isinstance(node, ex.Attribute):
                continue
            if node.path[0] == CONSTANT:
                columns[node] = _at(self.constants[int(node.path[1])], rules)
            else:
                columns[node] = column_at(batch, node.path).take(places)
        truth = op.truth(value_of(self.condition, columns)).values
        return truth if np.ndim(truth) else np.full(len(rows), truth)

    def decided_by(self, batch: pa.RecordBatch) -> tuple[ColumnCheck, ...] | None:
        """The checks, if they decide the condition on this batch."""
        checks = self.checks
        decide = checks is not None and all(check.decides(batch) for check in checks)
        return checks if decide else None


class VaryingTest:
    """One test of all rules, whose constants differ somewhere."""

    def __init__(self, bit: int, varying: Sequence[Varying], rules: Codes) -> None:
        self.bit, self.varying, self.rules = np.uint64(1 << bit), varying, rules

    def pairs(self, batch: pa.RecordBatch, rows: Ints) -> tuple[Ints, Codes]:
        """The rows that pass the test of a rule, each with the rule."""
        decided = [each.decided_by(batch) for each in self.varying]
        checks = [check for part in decided for check in part or ()]
        numbers = [check.numbers(batch, rows) for check in checks]
        chosen = self._chosen(checks, numbers)
        others = [n for n in range(len(checks)) if n != chosen]
        passing, rules = routing.passing_pairs(
            rows,
            *_stretches(self._listed(checks, numbers, chosen, len(rows))),
            np.array([OPS[checks[n].op] for n in others], np.int32),
            _stacked([numbers[n] for n in others], len(rows)),
            _stacked([checks[n].constants for n in others], 1),
        )
        for each, part in zip(self.varying, decided, strict=True):
            if part is None and len(passing):
                holds = each.holds(batch, passing, rules)
                passing, rules = passing[holds], rules[holds]
        return passing, rules

    def possible(self, batch: pa.RecordBatch) -> npt.NDArray[np.bool_] | None:
        """The rows that may pass the test of some rule, as far as that is quick to know; None for
        all."""
        possible: npt.NDArray[np.bool_] | None = None
        for each in self.varying:
            for check in each.decided_by(batch) or ():
                rows = check.possible(batch)
                if rows is not None:
                    possible = rows if possible is None else possible & rows
        return possible

    def sizes(self, batch: pa.RecordBatch, rows: Ints) -> Ints:
        """How many rules each row may concern."""
        decided = [each.decided_by(batch) for each in self.varying]
        checks = [check for part in decided for check in part or ()]
        numbers = [check.numbers(batch, rows) for check in checks]
        listed = self._listed(checks, numbers, self._chosen(checks, numbers), len(rows))
        return listed.end - listed.begin

    def _chosen(self, checks: Sequence[ColumnCheck], numbers: Sequence[Floats]) -> int | None:
        """The check whose index lists the fewest rules, by a sample of the rows."""
        if len(checks) < 2:
            return 0 if checks else None
        step = max(1, len(numbers[0]) // SAMPLE)

        def size(n: int) -> int:
            listed = checks[n].stretches(numbers[n][::step])
            return int((listed.end - listed.begin).sum())

        return min(range(len(checks)), key=size)

    def _listed(
        self,
        checks: Sequence[ColumnCheck],
        numbers: Sequence[Floats],
        chosen: int | None,
        size: int,
    ) -> Stretches:
        """For each row the rules that it may concern; without a check, all rules."""
        if chosen is not None:
            return checks[chosen].stretches(numbers[chosen])
        return Stretches(self.rules, np.zeros(size, np.int64), np.full(size, len(self.rules)))


class RuleTests:
    """The tests of the rules with these numbers, ready for batches of one schema."""

    def __init__(
        self,
        forms: Sequence[TestForm],
        constants: Mapping[int, Sequence[Sequence[Constants]]],
        schema: pa.Schema,
    ) -> None:
        self.rules = np.array(sorted(constants), np.int32)
        self.size = int(self.rules[-1]) + 1
        self.varying: list[VaryingTest] = []
        common, alike = [], 0
        for bit, form in enumerate(forms):
            conditions, varying = _parted(form, [c[bit] for c in constants.values()])
            common.append(EventTest(conditions=conditions, negated=form.negated))
            made = [
                Varying.of(
                    form.conditions[place],
                    {rule: values[bit][place] for rule, values in constants.items()},
                    schema,
                )
                for place in varying
            ]
            if made:
                self.varying.append(VaryingTest(bit, made, self.rules))
            else:
                alike |= 1 << bit
        self.alike = np.uint64(alike)
        """The tests that are the same in all rules."""
        self.columns = _columns(forms, schema)
        self._letters = Letters(common, Stream(type=None), schema)
        self._known: dict[int, int] = {}

    def concerning(self, batch: pa.RecordBatch) -> Concerning:
        """The rows of a batch that concern some rule."""
        rows = self._possible(batch)
        some = batch.select(self.columns)
        if rows is not None:
            some = some.take(pa.array(rows))
        chosen, classes = self._letters.classify(some, self._known)
        masks = np.array(list(self._known) or [0], np.uint64)[classes]
        alike = np.zeros(batch.num_rows, np.uint64)
        alike[chosen if rows is None else rows[chosen]] = masks & self.alike
        return Concerning(some, rows, chosen, masks, alike)

    def parts(self, of: Concerning) -> list[Part]:
        """The pairs that pass a test whose constants differ, test by test."""
        parts: list[Part] = []
        for test, passing in self._passing(of.chosen, of.masks):
            at, rules = test.pairs(of.batch, passing)
            parts.append((test.bit, of.in_batch(at), rules))
        return parts

    def sizes(self, of: Concerning) -> Ints:
        """An upper bound on the number of pairs that each row of a batch makes."""
        sizes = np.zeros(len(of.alike), np.int64)
        for test, passing in self._passing(of.chosen, of.masks):
            sizes[of.in_batch(passing)] += test.sizes(of.batch, passing)
        return sizes

    def _possible(self, batch: pa.RecordBatch) -> Ints | None:
        """The rows that may pass some test, if that is quick to know; None for all."""
        if self.alike:
            return None
        possible: npt.NDArray[np.bool_] | None = None
        for test in self.varying:
            rows = test.possible(batch)
            if rows is None:
                return None
            possible = rows if possible is None else possible | rows
        few = possible is not None and 2 * np.count_nonzero(possible) < len(possible)
        return np.flatnonzero(possible) if few else None  # type: ignore[arg-type]

    def _passing(self, rows: Ints, masks: Masks) -> Iterator[tuple[VaryingTest, Ints]]:
        for test in self.varying:
            open_rows = (masks & test.bit) != 0
            passing = rows if open_rows.all() else rows[open_rows]
            if len(passing):
                yield test, passing


def merged(parts: Sequence[Part], rows: Ints, alike: Masks, size: int) -> Pairs:
    """Pairs of several tests in one list, each once. `rows` are all that occur, and `alike` has, by
    row, the passed tests that are the same in all rules."""
    parts = [part for part in parts if len(part[1])]
    if not parts:
        none = np.zeros(0, np.int64)
        return Pairs(none, none.astype(np.int32), none.astype(np.uint64))
    if len(parts) == 1:
        ((bit, of_test, rules),) = parts
        return Pairs(of_test, rules, taken(alike, of_test) | bit)
    return Pairs(
        *routing.merged_pairs(
            rows,
            alike,
            np.concatenate([part[1] for part in parts]),
            np.concatenate([part[2] for part in parts]),
            np.cumsum([0, *(len(part[1]) for part in parts)]),
            np.array([part[0] for part in parts], np.uint64),
            size,
        )
    )


def _columns(forms: Sequence[TestForm], schema: pa.Schema) -> list[str]:
    """The columns that tests read; at least one, so that batches have rows."""
    paths = {path for form in forms for each in form.conditions for path in ex.attributes(each)}
    names = {path[0] for path in paths}
    return [name for name in schema.names if name in names] or schema.names[:1]


def _parted(
    form: TestForm, constants: Sequence[Sequence[Constants]]
) -> tuple[tuple[ex.Expression, ...], list[int]]:
    """The conditions that have the same constants in all rules, and the places of the others."""
    varying = [n for n in range(len(form.conditions)) if len({c[n] for c in constants}) > 1]
    first = constants[0]
    common = [
        _filled(condition, first[place])
        for place, condition in enumerate(form.conditions)
        if place not in varying
    ]
    return tuple(common), varying


def _filled(condition: ex.Expression, values: Constants) -> ex.Expression:
    """A condition with constants in their places."""
    if isinstance(condition, ex.Attribute) and condition.path[0] == CONSTANT:
        return ex.Literal(values[int(condition.path[1])])
    return ex.rebuild(condition, lambda child: _filled(child, values))


def _stretches(listed: Stretches) -> tuple[Ints, Ints, Codes]:
    return listed.begin.astype(np.int64), listed.end.astype(np.int64), listed.order


def _stacked(arrays: Sequence[Floats], size: int) -> npt.NDArray[np.float64]:
    """One row for each array."""
    return np.ascontiguousarray(np.stack(arrays)) if arrays else np.zeros((0, size))


def _vector(values: Mapping[int, Any]) -> Vector:
    """The constants of all rules at one place, by the numbers of the rules."""
    rules, size = list(values), max(values) + 1
    made = [constant(value) for value in values.values()]
    first = made[0]
    if isinstance(first.values, pa.Scalar):
        return Vector(first.kind, pa.array([values.get(n) for n in range(size)], pa.string()))
    numbers = np.zeros(size, np.asarray(first.values).dtype)
    numbers[rules] = [each.values for each in made]
    return Vector(first.kind, numbers, unit=first.unit)


def _at(vector: Vector, rules: Codes) -> Vector:
    if isinstance(vector.values, pa.Array):
        return Vector(vector.kind, vector.values.take(pa.array(rules)))
    return Vector(vector.kind, vector.values[rules], unit=vector.unit)
