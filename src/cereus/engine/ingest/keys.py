"""Numbers keys, the values that split a stream. The numbers (codes) are dense and last from batch
to batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.ingest import codes
from cereus.engine.ingest.clock import places_in_dictionary
from cereus.engine.match.forgetting import numbers_of
from cereus.state import checked

MANY = 1024
"""From this many distinct keys in a batch on, it is worth letting Arrow make a table of all known
keys."""


LARGEST_CODE = 2**62
"""Codes of combined columns stay below this, since products of sizes would overflow silently. A
batch has less than 2**31 rows, so the product of two numbers of distinct values in it always
fits."""


class LocalKeys(NamedTuple):
    """The keys of some rows, numbered among themselves: the number of each row's key, and the
    distinct keys in the order in which they first come."""

    numbers: npt.NDArray[np.int32]
    distinct: pa.RecordBatch


class KeyIndex:
    """Numbers every distinct key, in the order in which they first come. A null is a key too."""

    def __init__(self, fields: list[pa.Field]) -> None:
        self.fields = fields
        self._size = 0
        self._codes: dict[tuple[Any, ...], int] | None = None
        """The code of every key; it is made when a batch with few keys comes."""
        self._parts: list[list[pa.Array]] = [[] for _ in fields]
        self._words: tuple[pa.Array, npt.NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return self._size if self.fields else 1

    def encode(self, columns: list[pa.Array]) -> npt.NDArray[np.int32]:
        """The code of every row's key; a key not seen before gets the next code."""
        (*others, column) = columns
        if others or not pa.types.is_dictionary(column.type) or column.null_count:
            return self._encode(columns)
        return self._encode_words(column.dictionary, places_in_dictionary(column))

    def _encode_words(self, words: pa.Array, places: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Like `encode`, for a dictionary, which is often that of the batch before: its words keep
        their codes."""
        if self._words is None or not self._words[0].equals(words):
            self._words = words, np.full(len(words), -1, np.int32)
        known = self._words[1]
        new = codes.places_without_value(known, places)
        if len(new):
            known[new] = self._encode([words.take(pa.array(new))])
        return codes.values_at(known, places)

    def _encode(self, columns: list[pa.Array]) -> npt.NDArray[np.int32]:
        return self.encode_local(_combined(columns))

    def encode_local(self, keys: LocalKeys) -> npt.NDArray[np.int32]:
        """Like `encode`, for rows whose keys were already numbered among themselves."""
        return codes.values_at(self.encode_distinct(keys.distinct), keys.numbers)

    def encode_distinct(self, distinct: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """The codes of distinct keys."""
        numbers = self._looked_up(distinct) if self._are_many(distinct) else self._hashed(distinct)
        fresh = np.flatnonzero(numbers >= self._size)
        if len(fresh):
            if int(numbers.max()) + 1 < self._size + len(fresh):  # 0.0 and -0.0 are one key
                _, first = np.unique(numbers[fresh], return_index=True)
                fresh = fresh[first]
            self._add(distinct.take(pa.array(fresh)))
        return numbers

    def _add(self, keys: pa.RecordBatch) -> None:
        for part, column in zip(self._parts, keys.columns, strict=True):
            part.append(column)
        if self._codes is not None and len(self._codes) == self._size:
            self._codes.update(zip(_rows(keys.columns), count(self._size), strict=False))
        self._size += keys.num_rows

    def _hashed(self, distinct: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """The codes of distinct keys; new keys get the next ones."""
        if self._codes is None:
            self._codes = dict(zip(_rows(self.values()), count(), strict=False))
        known = self._codes
        numbers = (known.setdefault(key, len(known)) for key in _rows(distinct.columns))
        return np.fromiter(numbers, np.int32, distinct.num_rows)

    def _are_many(self, distinct: pa.RecordBatch) -> bool:
        """Whether to look the keys up together: they are not few among the known ones, and Arrow
        distinguishes values of their types as Python does."""
        if distinct.num_rows < max(MANY, self._size // 4) or distinct.num_columns > 1:
            return False
        kind = distinct.column(0).type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        return bool(text or pa.types.is_integer(kind))

    def _looked_up(self, distinct: pa.RecordBatch) -> npt.NDArray[np.int32]:
        """Like `_hashed`, several times as fast for many keys."""
        if not self._size:
            return np.arange(distinct.num_rows, dtype=np.int32)
        (known,), (column,) = self.values(), distinct.columns
        places = pc.index_in(column, value_set=known)
        numbers = np.array(places.fill_null(-1).to_numpy(zero_copy_only=False), np.int32)
        fresh = np.flatnonzero(numbers < 0)
        numbers[fresh] = self._size + np.arange(len(fresh))
        return numbers

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
        if not self.fields or not 0 <= code < self._size:
            return "the stream"
        values = [column[code].as_py() for column in self.values()]
        return ", ".join(f"{f.name}={v!r}" for f, v in zip(self.fields, values, strict=True))

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Forget all keys except these, which are renumbered in their order."""
        words, before = self._words, self._size
        self.restore({name: column.take(pa.array(kept)) for name, column in self.save().items()})
        if words is not None:
            self._words = words[0], numbers_of(kept, before)[words[1]]

    def save(self) -> dict[str, pa.Array]:
        return {str(place): column for place, column in enumerate(self.values())}

    def restore(self, saved: dict[str, pa.Array]) -> None:
        size: int | None = None
        self._parts = []
        for place, field in enumerate(self.fields):
            column = checked.column(saved[str(place)], "the keys", field.type, size)
            self._parts.append([column])
            size = len(column)
        self._size = size or 0
        self._codes = self._words = None


def local_keys(columns: list[pa.Array]) -> LocalKeys:
    """Number the keys of some rows among themselves. It depends on no earlier rows, so any thread
    may do it."""
    (*others, column) = columns
    if others or not pa.types.is_dictionary(column.type) or column.null_count:
        return _combined(columns)
    places = places_in_dictionary(column)
    known = np.full(len(column.dictionary), -1, np.int32)
    used = codes.places_without_value(known, places)
    words = _combined([column.dictionary.take(pa.array(used))])  # a word may come twice
    known[used] = words.numbers
    return LocalKeys(codes.values_at(known, places), words.distinct)


def _combined(columns: list[pa.Array]) -> LocalKeys:
    names = [str(place) for place in range(len(columns))]
    encoded = [_dictionary(column) for column in columns]
    local: npt.NDArray[Any] = places_in_dictionary(encoded[0])
    if len(columns) == 1:
        distinct = pa.RecordBatch.from_arrays([encoded[0].dictionary], names)
        return LocalKeys(local.astype(np.int32, copy=False), distinct)
    local, size = local.astype(np.int64), len(encoded[0].dictionary)
    for each in encoded[1:]:
        if size * len(each.dictionary) > LARGEST_CODE:  # number the combinations that occur
            kinds, local = np.unique(local, return_inverse=True)
            size = len(kinds)
        local = local * len(each.dictionary) + places_in_dictionary(each)
        size *= len(each.dictionary)
    codes_of_rows = pa.array(local).dictionary_encode()
    local = codes_of_rows.indices.to_numpy()
    first = np.zeros(len(codes_of_rows.dictionary), np.int64)
    first[local[::-1]] = np.arange(len(local) - 1, -1, -1)  # the last write wins
    rows = pa.array(first)
    distinct = pa.RecordBatch.from_arrays([_plain(c).take(rows) for c in columns], names)
    return LocalKeys(local, distinct)


def _dictionary(column: pa.Array) -> pa.DictionaryArray:
    usable = pa.types.is_dictionary(column.type) and not column.null_count
    # a dictionary may hold a value twice; then two codes would be one key
    if usable and len(pc.unique(column.dictionary)) == len(column.dictionary):
        return column
    plain = _plain(column)
    near = _near_each_other(plain)
    return plain.dictionary_encode(null_encoding="encode") if near is None else near


def _near_each_other(column: pa.Array) -> pa.DictionaryArray | None:
    """Integers that are near each other, encoded without hashing: several times as fast."""
    kind = column.type
    if not pa.types.is_integer(kind) or pa.types.is_uint64(kind) or column.null_count:
        return None
    values = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if high - low > 2 * len(values) or not len(values):
        return None
    numbers, distinct = codes.number_integers(values, low, high - low + 1)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(distinct).cast(kind), safe=False)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _rows(columns: list[pa.Array]) -> Iterator[tuple[Any, ...]]:
    """Keys as tuples of Python values."""
    return zip(*map(_hashable, columns), strict=True)


def _hashable(column: pa.Array) -> list[Any]:
    """The values as hashable objects. NaN is always the same key; containers become hashable."""
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
