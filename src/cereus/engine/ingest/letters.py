"""Events → letters: every test of a plan is made for all rows of a batch at once.

1. Comparisons of string columns by equality (type, stream, `name = 'INTC'`, `IN`) are decided by
   small codes: each such column becomes a code per row (one pass), the codes of a row together
   index a table of bit masks. The table is filled by the ordinary evaluator, run once over one
   representative row per combination of codes.
2. What remains of a test (`price > 10`) is evaluated only on the rows that passed the first stage.
3. Rows with an empty mask cannot matter and are dropped here; what is left gets a dense class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import places_in_dictionary
from cereus.engine.ingest.words import Words, entry_codes, string_codes
from cereus.engine.memory import filled, taken
from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import mask as condition_mask
from cereus.expr.paths import column_at, type_at
from cereus.expr.types import Kind, kind_of
from cereus.plan.tests import EventTest, conditions_of
from cereus.stream import Stream

NO_EVENT = EventTest(negated=True)
"""The test of a query that has none: no event passes it."""
WORD = 62
"""Tests per mask word; plans with more tests use several words."""
MOST_COMBINATIONS = 1 << 14
OTHER = "\0other"

Masks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class CodedColumn:
    """A string column that tests compare with constants only."""

    path: tuple[str, ...]
    constants: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of codes: 0 for any other string, 1 … for the constants, and the last one for
        null."""
        return len(self.constants) + 2

    def representatives(self) -> list[str | None]:
        return [OTHER, *self.constants, None]


@lru_cache(maxsize=64)
def letters_of(tests: tuple[EventTest, ...], stream: Stream, schema: pa.Schema) -> Letters:
    """The prepared tests. The same tests on the same schema are prepared once."""
    return Letters(tests or (NO_EVENT,), stream, schema)


class Letters:
    """The tests of a plan, prepared for batches of one schema.

    `known` numbers the letters seen so far; it is shared with the transition table.
    """

    def __init__(self, tests: Sequence[EventTest], stream: Stream, schema: pa.Schema) -> None:
        conditions = [conditions_of(test, stream) for test in tests]
        self.columns = _coded_columns(conditions, schema)
        self.words = [
            _Word(range(at, min(at + WORD, len(tests))), tests, conditions, self.columns, schema)
            for at in range(0, len(tests), WORD)
        ]
        self._words = [Words(column.constants) for column in self.columns]
        tables = [word.table | word.flip for word in self.words]
        self._open = reduce(np.bitwise_or, tables, np.zeros(1, np.uint64))
        """For each combination of codes: the tests that it does not decide."""
        self._decided: Masks | None = None
        """The letter of each combination of codes, where codes decide all tests."""
        if len(self.words) == 1 and not self.words[0].rest:
            self._decided = self.words[0].table ^ self.words[0].flip

    def classify(
        self,
        batch: pa.RecordBatch,
        known: dict[int, int],
        costs: Costs | None = None,
        *,
        keep_all: bool = False,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """The rows that can matter, and the class of each (numbered in `known`)."""
        costs = Costs() if costs is None else costs
        index = self._index(batch)
        if index is not None and self._decided is not None and not keep_all:
            rows, classes = codes.numbered_rows(index, self._decided, known)
            return rows, classes
        rows, first = self._possible(batch, index, keep_all=keep_all)
        masks = [
            word.decided(batch, rows, first if place == 0 else word.coded(index, rows), costs)
            for place, word in enumerate(self.words)
        ]
        if not keep_all:
            some = reduce(np.bitwise_or, masks) if len(masks) > 1 else masks[0]
            if np.count_nonzero(some) < len(rows):
                passed = np.flatnonzero(some)
                rows, masks = taken(rows, passed), [taken(mask, passed) for mask in masks]
        return rows, _numbered(masks, known)

    def _possible(
        self, batch: pa.RecordBatch, index: npt.NDArray[np.uint16] | None, *, keep_all: bool
    ) -> tuple[npt.NDArray[np.int64], Masks]:
        """The rows that may pass some test by their codes, and what their codes decide of the first
        tests."""
        if index is None or keep_all or self._open.all():
            rows = np.arange(batch.num_rows)
            return rows, self.words[0].coded(index, rows)
        return codes.possible_rows(index, self.words[0].table, self._open)

    def _index(self, batch: pa.RecordBatch) -> npt.NDArray[np.uint16] | None:
        """The combination of codes of every row, as one number."""
        if not self.columns:
            return None
        index = filled(batch.num_rows, 0, np.uint16)
        for column, words in zip(self.columns, self._words, strict=True):
            add_codes(column_at(batch, column.path), words, index)
        return index


class _Word:
    """Up to WORD tests: the table for their coded part, and what is left to evaluate."""

    def __init__(
        self,
        numbers: range,
        tests: Sequence[EventTest],
        conditions: Sequence[tuple[ex.Expression, ...]],
        columns: Sequence[CodedColumn],
        schema: pa.Schema,
    ) -> None:
        coded = {column.path for column in columns}
        combinations = _combinations(columns)
        self.table = np.zeros(combinations.num_rows, np.uint64)
        self.flip = np.uint64(0)
        rest: dict[ex.Expression, int] = {}
        for place, number in enumerate(numbers):
            bit = 1 << place
            passed = np.ones(combinations.num_rows, bool)
            for condition in conditions[number]:
                if _is_coded(condition, schema) and ex.attributes(condition) <= coded:
                    passed &= condition_mask(condition, combinations)
                else:
                    rest[condition] = rest.get(condition, 0) | bit
            self.table |= np.where(passed, np.uint64(bit), np.uint64(0))
            if tests[number].negated:
                self.flip |= np.uint64(bit)
        self.rest = [
            (condition, _columns_read(condition), np.uint64(bits))
            for condition, bits in rest.items()
        ]

    def coded(self, index: npt.NDArray[np.uint16] | None, rows: npt.NDArray[np.int64]) -> Masks:
        """The masks of some rows as far as codes decide them."""
        if index is None:
            return filled(len(rows), int(self.table[0]), np.uint64)
        return codes.masks_of(index if len(rows) == len(index) else taken(index, rows), self.table)

    def decided(
        self, batch: pa.RecordBatch, rows: npt.NDArray[np.int64], masks: Masks, costs: Costs
    ) -> Masks:
        """The masks of some rows: each condition is evaluated only where it can still decide
        something."""
        for condition, names, bits in self.rest:
            needed = batch.select(names or batch.schema.names[:1])
            open_rows = np.count_nonzero(masks & bits)
            costs.tests += batch.num_rows if 2 * open_rows >= batch.num_rows else int(open_rows)
            if 2 * open_rows >= batch.num_rows and len(rows) == batch.num_rows:
                codes.clear_failed_rows(masks, _bytes(condition_mask(condition, needed)), int(bits))
            elif open_rows:
                places, undecided = codes.rows_with(rows, masks, int(bits))
                if 2 * open_rows < batch.num_rows:
                    passed = condition_mask(condition, needed.take(pa.array(undecided)))
                else:
                    passed = condition_mask(condition, needed)[undecided]
                codes.clear_failed(masks, places, _bytes(passed), int(bits))
        return masks ^ self.flip if self.flip else masks


def _columns_read(condition: ex.Expression) -> list[str]:
    return sorted({path[0] for path in ex.attributes(condition)})


def _bytes(passed: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(passed).view(np.uint8)


def _numbered(masks: list[Masks], known: dict[int, int]) -> npt.NDArray[np.int32]:
    """The classes of letters. With several words, the classes of the first ones are combined with
    each further word."""
    if len(masks) == 1:
        numbered: npt.NDArray[np.int32] = codes.dense_classes(masks[0], known)
        return numbered
    letters = np.zeros(len(masks[0]), dtype=object)
    for place, word in enumerate(masks):
        letters += word.astype(object) << (WORD * place)
    distinct, inverse = np.unique(letters, return_inverse=True)
    numbers = [known.setdefault(int(letter), len(known)) for letter in distinct]
    return np.array(numbers, np.int32)[inverse]


# ---------------------------------------------------------------- what can be coded


def _coded_columns(
    conditions: Iterable[Sequence[ex.Expression]], schema: pa.Schema
) -> list[CodedColumn]:
    """The columns worth coding, as long as their combinations fit a small table."""
    constants: dict[tuple[str, ...], dict[str, None]] = {}
    for test in conditions:
        for condition in test:
            if _is_coded(condition, schema):
                for path in sorted(ex.attributes(condition)):
                    constants.setdefault(path, {}).update(dict.fromkeys(_strings(condition)))
    columns: list[CodedColumn] = []
    combinations = 1
    for path, values in sorted(constants.items(), key=lambda item: len(item[1])):
        column = CodedColumn(path, tuple(values))
        if combinations * column.size > MOST_COMBINATIONS:
            break
        combinations *= column.size
        columns.append(column)
    return columns


def _is_coded(condition: ex.Expression, schema: pa.Schema) -> bool:
    """Whether a condition only compares string columns with constant strings."""
    match condition:
        case ex.Comparison("=" | "!=", ex.Attribute(path), ex.Literal(str())):
            return _is_string(schema, path)
        case ex.In(ex.Attribute(path), items):
            return _is_string(schema, path) and all(
                isinstance(item, ex.Literal) and isinstance(item.value, str) for item in items
            )
        case ex.And(operands) | ex.Or(operands):
            return all(_is_coded(operand, schema) for operand in operands)
        case ex.Not(operand):
            return _is_coded(operand, schema)
    return False


def _strings(condition: ex.Expression) -> list[str]:
    return [
        node.value
        for node in condition.walk()
        if isinstance(node, ex.Literal) and isinstance(node.value, str)
    ]


def _is_string(schema: pa.Schema, path: tuple[str, ...]) -> bool:
    type_ = type_at(schema, path)
    return type_ is not None and kind_of(type_) is Kind.STRING


def _combinations(columns: Sequence[CodedColumn]) -> pa.RecordBatch:
    """One row per combination of codes, in the order of `_index`; nested columns are nested."""
    rows = list(product(*(column.representatives() for column in columns)))
    tree: dict[str, Any] = {}
    for place, column in enumerate(columns):
        values = pa.array([row[place] for row in rows], pa.string())
        node = tree
        for step in column.path[:-1]:
            node = node.setdefault(step, {})
        node[column.path[-1]] = values
    arrays = {name: _nested(part) for name, part in tree.items()}
    if not arrays:
        return pa.RecordBatch.from_pydict({"": pa.nulls(1)})
    return pa.RecordBatch.from_pydict(arrays)


def _nested(part: Any) -> pa.Array:
    if isinstance(part, dict):
        return pa.StructArray.from_arrays([_nested(p) for p in part.values()], list(part))
    return part


# ---------------------------------------------------------------- reading columns


def add_codes(column: pa.Array, words: Words, index: npt.NDArray[np.uint16]) -> None:
    """Add the code of every value of a string column as the last digit of its number in `index`.
    Null has the code after the last word."""
    if not column.null_count:
        _add_known(column, words, index)
        return
    radix = np.uint16(len(words.words) + 2)
    nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
    before = index[nulls]
    _add_known(column, words, index)
    index[nulls] = before * radix + (radix - np.uint16(1))


def _add_known(column: pa.Array, words: Words, index: npt.NDArray[np.uint16]) -> None:
    """Like `add_codes`, but rows that are null may get any code."""
    radix = len(words.words) + 2
    if pa.types.is_dictionary(column.type):
        entries = np.zeros(max(1, len(column.dictionary)), np.uint16)
        add_codes(column.dictionary, words, entries)
        entry_codes(entries, places_in_dictionary(column), index, radix)
        return
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    wide = pa.types.is_large_string(column.type)
    _, offsets, data = column.buffers()
    if len(column) == 0:
        return
    ends: Any = np.frombuffer(offsets, np.int64 if wide else np.int32)
    ends = ends[column.offset : column.offset + len(column) + 1]
    bytes_ = (
        np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(8, np.uint8)
    )
    string_codes(ends, bytes_, words, index, radix)
