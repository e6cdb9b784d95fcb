"""Keys: the values that split a stream, as dense codes that last from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


class KeyIndex:
    """Numbers every distinct key. A null is a key of its own."""

    def __init__(self, fields: list[pa.Field]) -> None:
        self.fields = fields
        self._codes: dict[tuple[Any, ...], int] = {}
        self._parts: list[list[pa.Array]] = [[] for _ in fields]
        self._words: tuple[pa.Array, npt.NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return len(self._codes) if self.fields else 1

    def encode(self, columns: list[pa.Array]) -> npt.NDArray[np.int32]:
        """The code of every row's key; a key not seen before gets the next code."""
        (*others, column) = columns
        if others or not pa.types.is_dictionary(column.type) or column.null_count:
            return self._encode(columns)
        indices: npt.NDArray[np.int64] = column.indices.to_numpy(zero_copy_only=False)
        return self._codes_of_words(column.dictionary)[indices]

    def _codes_of_words(self, words: pa.Array) -> npt.NDArray[np.int32]:
        """The codes of a dictionary, which is often that of the batch before."""
        if self._words is None or not self._words[0].equals(words):
            self._words = words, self._encode([words])
        return self._words[1]

    def _encode(self, columns: list[pa.Array]) -> npt.NDArray[np.int32]:
        local, distinct = _combined(columns)
        known, before = self._codes, len(self._codes)
        keys = zip(*map(_hashable, distinct.columns), strict=True)
        found = (known.setdefault(key, len(known)) for key in keys)
        codes = np.fromiter(found, np.int32, distinct.num_rows)
        if len(known) > before:
            fresh = np.flatnonzero(codes >= before)
            _, first = np.unique(codes[fresh], return_index=True)
            added = distinct.take(pa.array(fresh[first]))
            for part, column in zip(self._parts, added.columns, strict=True):
                part.append(column)
        return codes[local]

    def columns(self, codes: npt.NDArray[np.int32]) -> list[pa.Array]:
        """The key columns of rows with these codes."""
        return [column.take(pa.array(codes)) for column in self.values()]

    def values(self) -> list[pa.Array]:
        """All keys, in the order of their codes, one array per key column."""
        for place, part in enumerate(self._parts):
            if len(part) > 1:
                self._parts[place] = [pa.concat_arrays(part)]
        return [
            part[0] if part else pa.array([], field.type)
            for part, field in zip(self._parts, self.fields, strict=True)
        ]

    def describe(self, code: int) -> str:
        """A key in words, for messages."""
        if not self.fields or not 0 <= code < len(self._codes):
            return "the stream"
        values = [column[code].as_py() for column in self.values()]
        return ", ".join(f"{f.name}={v!r}" for f, v in zip(self.fields, values, strict=True))

    def keep(self, codes: npt.NDArray[np.int64]) -> None:
        """Forget all keys but these; they are numbered anew, in their order."""
        self.restore({name: column.take(pa.array(codes)) for name, column in self.save().items()})

    def save(self) -> dict[str, pa.Array]:
        return {str(place): column for place, column in enumerate(self.values())}

    def restore(self, saved: dict[str, pa.Array]) -> None:
        self._parts = [[saved[str(place)]] for place in range(len(self.fields))]
        rows = zip(*(_hashable(part[0]) for part in self._parts), strict=True)
        self._codes = {key: code for code, key in enumerate(rows)}
        self._words = None


def _combined(columns: list[pa.Array]) -> tuple[npt.NDArray[np.int64], pa.RecordBatch]:
    """Codes local to this batch, and the distinct keys in their order."""
    names = [str(place) for place in range(len(columns))]
    encoded = [_dictionary(column) for column in columns]
    local = encoded[0].indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if len(columns) == 1:
        return local, pa.RecordBatch.from_arrays([encoded[0].dictionary], names)
    for each in encoded[1:]:
        local = local * len(each.dictionary) + each.indices.to_numpy(zero_copy_only=False)
    _, first, local = np.unique(local, return_index=True, return_inverse=True)
    rows = pa.array(first)
    return local, pa.RecordBatch.from_arrays([_plain(c).take(rows) for c in columns], names)


def _dictionary(column: pa.Array) -> pa.DictionaryArray:
    usable = pa.types.is_dictionary(column.type) and not column.null_count
    # a dictionary may hold a value twice; then two codes would be one key
    if usable and len(pc.unique(column.dictionary)) == len(column.dictionary):
        return column
    plain = _plain(column)
    near = _near_each_other(plain)
    return plain.dictionary_encode(null_encoding="encode") if near is None else near


def _near_each_other(column: pa.Array) -> pa.DictionaryArray | None:
    """Integers that are not far apart, encoded without hashing: several times as fast."""
    kind = column.type
    if not pa.types.is_integer(kind) or pa.types.is_uint64(kind) or column.null_count:
        return None
    values = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low > 2 * len(values) or not len(values):
        return None
    places = values - low
    first = np.full(high - low + 1, -1)  # where each value comes first: the last assignment wins
    first[places[::-1]] = np.arange(len(values) - 1, -1, -1)
    distinct = np.flatnonzero(first >= 0)
    distinct = distinct[np.argsort(first[distinct])]
    codes = np.zeros(high - low + 1, np.int32)
    codes[distinct] = np.arange(len(distinct))
    return pa.DictionaryArray.from_arrays(codes[places], pa.array(distinct + low).cast(kind))


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _hashable(column: pa.Array) -> list[Any]:
    """The values. NaN is one key, not a new one every time; containers become hashable."""
    if pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        # as numbers: Python's own times have no nanoseconds
        wide = not (pa.types.is_date32(column.type) or pa.types.is_time32(column.type))
        column = column.cast(pa.int64() if wide else pa.int32())
    if pa.types.is_integer(column.type) and not column.null_count:
        values: list[Any] = column.to_numpy(zero_copy_only=False).tolist()  # five times as fast
        return values
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return ["NaN" if value != value else value for value in values]
    return [repr(v) if isinstance(v, dict | list) else v for v in values]
