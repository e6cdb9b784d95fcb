"""Columns that are compared between events, as integers that compare as the values do."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.automata.memory.slots import Column
from cereus.engine.ingest import codes
from cereus.engine.memory import empty, taken
from cereus.errors import DataError
from cereus.expr.arrow.evaluate import evaluate
from cereus.expr.tree import Attribute, attributes
from cereus.state import checked

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
NULL = np.int64(-(2**63))
FORGET_AT = 1 << 16
"""Look for strings that are no longer compared with once this many are known."""


class ComparedColumns:
    """Reads the columns of a plan. Strings are compared by codes that last over batches."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.strings: dict[str, int] = {}
        self.words: dict[int, str] = {}
        self.next_code = 0
        self.forget_at = FORGET_AT

    def read(self, batch: pa.RecordBatch, places: Ints, to: Codes | None = None) -> Ints:
        """One row per column, with an entry per event that goes where `to` says; NULL for null and
        NaN."""
        if not self.columns:
            return np.zeros((1, 0), np.int64)
        read = empty((len(self.columns), len(places)), np.int64)
        for column, out in zip(self.columns, read, strict=True):
            integers = self._integers(column, self._values(column, batch, places))
            if to is None:
                out[:] = integers
            else:
                codes.move(integers, to, out)
        return read

    def forget(self) -> None:
        """Forget all strings. Their codes are not used again."""
        self.strings, self.words = {}, {}

    @staticmethod
    def _values(column: Column, batch: pa.RecordBatch, places: Ints) -> pa.Array:
        """The values of the column's expression for the events at these places."""
        every = len(places) == batch.num_rows
        match column.expression:
            case Attribute((name,)):
                values = batch.column(name)
                if every:
                    return values
                if values.null_count == 0 and _is_plain(values.type):
                    return pa.array(taken(values.to_numpy(), places), values.type)
                return values.take(pa.array(places))
        names = sorted({path[0] for path in attributes(column.expression)})
        rows = batch.select(names or batch.schema.names[:1])
        rows = rows if every else rows.take(pa.array(places))
        values = evaluate(column.expression, rows)
        if isinstance(values, pa.Scalar):
            return pa.array([values.as_py()] * rows.num_rows, values.type)
        return values

    def _integers(self, column: Column, values: pa.Array) -> Ints:
        null = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
        kind, _, scale = column.kind.partition(" ")
        if kind == "string":
            integers = self._codes(values)
        elif kind == "text":
            integers = self._codes(_at_scale(values, int(scale)).cast(pa.string()))
        elif kind == "decimal":
            integers = _unscaled(_at_scale(values, int(scale)))
        elif kind.startswith("word"):
            integers = _words(_at_scale(values, int(scale)))[int(kind[-1])]
        elif column.kind == "float":
            plain = _filled(_floats(values), np.nan)
            integers = empty(len(plain), np.int64)
            codes.ordered_floats(plain, plain.view(np.int64), integers)
            return integers
        elif column.kind == "double":
            plain = _filled(_floats(values), 0.0)
            # + 0.0: the bits of -0.0 are NULL
            integers = np.add(plain, 0.0, out=empty(len(plain), np.float64)).view(np.int64)
        elif kind == "instant":
            integers = _plain_integers(_counted(values, scale or "us").cast(pa.int64()))
        else:
            integers = _plain_integers(values)
        if null is not None and null.any():
            integers = np.where(null, NULL, integers)
        return integers

    def _codes(self, values: pa.Array) -> Ints:
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        entries = [self._code(word) for word in encoded.dictionary.to_pylist()]
        places = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        coded: Ints = np.array(entries or [0], np.int64)[places]
        return coded

    def _code(self, word: str | None) -> int:
        if word is None:
            return int(NULL)
        code = self.strings.get(word)
        if code is None:
            code = self.strings[word] = self.next_code
            self.words[code] = word
            self.next_code += 1
        return code

    def keep(self, codes_in_use: Ints) -> None:
        """Forget the strings whose codes are not in use. Their codes are not used again."""
        alive = set(codes_in_use.tolist())
        self.strings = {word: code for word, code in self.strings.items() if code in alive}
        self.words = {code: word for word, code in self.strings.items()}
        self.forget_at = max(FORGET_AT, 2 * len(self.strings))

    def save(self) -> dict[str, Any]:
        codes = np.fromiter(self.strings.values(), np.int64, len(self.strings))
        return {
            "words": pa.array(self.strings, pa.large_string()),
            "codes": codes,
            "next": self.next_code,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.next_code = checked.count(saved["next"], "the next code of a string")
        words = checked.column(saved["words"], "the strings", pa.large_string())
        codes = checked.integers(saved["codes"], "the codes of strings", len(words))
        checked.within(codes, 0, self.next_code, "the code of a string")
        checked.refuse_unless(not words.null_count, "a string is null")
        self.strings = dict(zip(words.to_pylist(), codes.tolist(), strict=True))
        self.words = {code: word for word, code in self.strings.items()}


def _at_scale(values: pa.Array, scale: int) -> pa.Array:
    """Numbers as decimals of one scale, which is at least theirs."""
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    if pa.types.is_integer(plain.type):
        plain = plain.cast(pa.decimal128(20, 0))
    return plain.cast(pa.decimal256(76, scale))


REACH = {
    "us": "microseconds, which reach 292,000 years",
    "ns": "nanoseconds, which reach 292 years",
}


def _counted(values: pa.Array, unit: str) -> pa.Array:
    """Times in one unit."""
    try:
        return values.cast(pa.timestamp(unit))
    except pa.ArrowInvalid:
        raise DataError(
            f"a {values.type} is too far from 1970 to be compared between events",
            hint=f"times are compared in {REACH[unit]}",
        ) from None


def _unscaled(values: pa.Array) -> Ints:
    """Decimals in units of their scale: the lowest word of four, which holds 18 digits."""
    words = np.frombuffer(values.buffers()[1], np.int64)
    return words[4 * values.offset :: 4][: len(values)].copy()


def _words(values: pa.Array) -> tuple[Ints, Ints, Ints]:
    """Decimals of up to 38 digits in units of their scale, as three words (`decimals.words_of`)."""
    words = np.frombuffer(values.buffers()[1], np.int64)[4 * values.offset :][: 4 * len(values)]
    low, high = words[::4].copy().view(np.uint64), words[1::4].copy()
    return high, (low >> np.uint64(1)).view(np.int64), (low & np.uint64(1)).view(np.int64)


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _floats(values: pa.Array) -> pa.Array:
    """Whole numbers as floats, as SQL compares them: those beyond 2**53 are rounded."""
    return values.cast(pa.float64(), safe=False)


def _filled(values: pa.Array, null: Any) -> npt.NDArray[Any]:
    """The values, with `null` in place of nulls."""
    plain = values.fill_null(null) if values.null_count else values
    return plain.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _plain_integers(values: pa.Array) -> Ints:
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    if not pa.types.is_integer(values.type):
        values = values.cast(pa.int64())
    plain: Ints = _filled(values, 0).astype(np.int64, copy=False)
    if len(plain) and plain.min() == NULL:  # nulls are zeros here
        raise DataError(
            f"the value {NULL} cannot be compared between events: it stands for NULL",
            hint="cast the column to decimal(20, 0)",
        )
    return plain
