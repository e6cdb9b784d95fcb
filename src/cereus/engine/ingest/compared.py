"""Columns that are compared between events, as integers that compare as the values do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

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
"""So many strings are known before it is worth looking which of them are still compared with."""


class LocalColumn(NamedTuple):
    """A column of some events, read without knowing those before them: its integers, or, where
    there are strings, the places of these in `words`."""

    values: npt.NDArray[Any]
    words: list[str | None] | None = None


class ComparedColumns:
    """Reads the columns of a plan. Strings are compared by codes that last over batches."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.strings: dict[str, int] = {}
        self.words: dict[int, str] = {}
        self.next_code = 0
        self.forget_at = FORGET_AT

    def read(self, batch: pa.RecordBatch, places: Ints, to: Codes | None = None) -> Ints:
        """One row per column, one entry per event, which goes where `to` says; NULL for null and
        NaN."""
        columns = (self._known(self._look(column, batch, places)) for column in self.columns)
        return self._rows(columns, len(places), to)

    def look(self, batch: pa.RecordBatch, places: Ints) -> list[LocalColumn]:
        """The columns of the events at these places. It depends on nothing that was read, so any
        thread may do it."""
        return [self._look(column, batch, places) for column in self.columns]

    def read_looked_at(
        self,
        pieces: Sequence[Sequence[LocalColumn]],
        chosen: Ints | None,
        size: int,
        to: Codes | None = None,
    ) -> Ints:
        """The same as `read`, of so many events in pieces that were looked at: those at the chosen
        places, or all."""
        columns = (
            _joined([self._known(part) for part in parts]) for parts in zip(*pieces, strict=True)
        )
        if chosen is not None:
            columns = (taken(each, chosen) for each in columns)
        return self._rows(columns, size, to)

    def _rows(self, columns: Iterable[Ints], size: int, to: Codes | None) -> Ints:
        if not self.columns:
            return np.zeros((1, 0), np.int64)
        rows = empty((len(self.columns), size), np.int64)
        for column, out in zip(columns, rows, strict=True):
            if to is None:
                out[:] = column
            else:
                codes.move(column, to, out)
        return rows

    def forget(self) -> None:
        """No string has been seen; codes are not given again."""
        self.strings, self.words = {}, {}

    @staticmethod
    def _values(column: Column, batch: pa.RecordBatch, places: Ints) -> pa.Array:
        """The column's expression on the events at these places."""
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

    def _look(self, column: Column, batch: pa.RecordBatch, places: Ints) -> LocalColumn:
        values = self._values(column, batch, places)
        kind, _, scale = column.kind.partition(" ")
        if kind == "string":
            return _words(values)
        if kind == "text":
            return _words(_at_scale(values, int(scale)).cast(pa.string()))
        return LocalColumn(_integers(column.kind, values))

    def _known(self, local: LocalColumn) -> Ints:
        """A column as it is compared with those of other batches."""
        if local.words is None:
            return local.values
        entries = [self._code(word) for word in local.words]
        coded: Ints = np.array(entries or [0], np.int64)[local.values]
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
        """Forget the strings whose codes are not in use; these codes are not given again."""
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


def _joined(parts: list[Ints]) -> Ints:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _words(values: pa.Array) -> LocalColumn:
    """Strings, by their places among the distinct ones; null is one of them."""
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    words, places = encoded.dictionary.to_pylist(), encoded.indices
    if places.null_count:
        places = places.cast(pa.int64()).fill_null(len(words))
        words.append(None)
    return LocalColumn(places.to_numpy(zero_copy_only=False), words)


def _integers(kind: str, values: pa.Array) -> Ints:
    """Values that are no strings."""
    null = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    if kind == "float":
        plain = _filled(_floats(values), np.nan)
        integers = empty(len(plain), np.int64)
        codes.ordered_floats(plain, plain.view(np.int64), integers)
        return integers
    if kind == "double":
        plain = _filled(_floats(values), 0.0)
        # + 0.0: the bits of -0.0 are NULL
        integers = np.add(plain, 0.0, out=empty(len(plain), np.float64)).view(np.int64)
    elif kind == "instant":
        integers = _plain_integers(_in_microseconds(values).cast(pa.int64()))
    elif kind.startswith("decimal "):
        integers = _unscaled(_at_scale(values, int(kind.split()[1])))
    else:
        integers = _plain_integers(values)
    return integers if null is None or not null.any() else np.where(null, NULL, integers)


def _at_scale(values: pa.Array, scale: int) -> pa.Array:
    """Numbers as decimals of one scale, which is at least theirs."""
    plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    if pa.types.is_integer(plain.type):
        plain = plain.cast(pa.decimal128(20, 0))
    return plain.cast(pa.decimal256(76, scale))


def _in_microseconds(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        raise DataError(
            f"a {values.type} is too far from 1970 to be compared between events",
            hint="times are compared in microseconds, which reach 292,000 years",
        ) from None


def _unscaled(values: pa.Array) -> Ints:
    """Decimals in units of their scale: the lowest word of four, which holds 18 digits."""
    words = np.frombuffer(values.buffers()[1], np.int64)
    return words[4 * values.offset :: 4][: len(values)].copy()


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _floats(values: pa.Array) -> pa.Array:
    """As SQL compares whole numbers with floats: those beyond 2**53 are rounded."""
    return values.cast(pa.float64(), safe=False)


def _filled(values: pa.Array, null: Any) -> npt.NDArray[Any]:
    """The values, with something in place of nulls."""
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
