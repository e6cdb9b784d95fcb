"""Splits rows by PARTITION BY. The rows are read in ranges, so that threads can share the work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.memory import empty
from cereus.engine.parallel.spread import ALONE, Spread, cuts
from cereus.errors import DataError
from cereus.languages.match_recognize.match.rows.rows_kernel import count_codes, place_rows

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Indices = Codes | Ints
"""Indices of rows; 32 bits where that is enough."""

LEAST = 1 << 15
"""The least rows of a range."""


def by_code(codes: Codes, spread: Spread = ALONE) -> tuple[Indices, Ints]:
    """The rows sorted by code (stable), and where those of each code begin; codes without rows are
    left out."""
    if len(codes) >= 1 << 31:
        order = np.argsort(codes, kind="stable")
        changes = np.flatnonzero(np.diff(codes[order])) + 1
        return order, np.concatenate([[0], changes, [len(codes)]]).astype(np.int64)
    ranges = cuts(len(codes), spread.threads, LEAST)
    parts = [codes[begin:end] for begin, end in ranges]
    counts = np.zeros((len(parts), max(map(int, spread.map(np.max, parts))) + 1), np.int64)
    spread.map(count_codes, parts, counts)
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = bounds[:-1] + np.cumsum(counts, axis=0) - counts
    rows = empty(len(codes), np.int32)
    spread.map(
        lambda part, first, of_part: place_rows(part, first, of_part, rows),
        parts,
        [begin for begin, _ in ranges],
        places,
    )
    return rows, bounds[np.append(True, bounds[1:] > bounds[:-1])]


def codes_of(columns: Sequence[pa.Array], spread: Spread = ALONE) -> Codes:
    """A number for every combination of values; null is a value."""
    codes, _ = _code(columns[0], spread)
    for column in columns[1:]:
        more, count = _code(column, spread)
        codes, _ = _code(pa.array(codes.astype(np.int64) * count + more), spread)
    return codes


def _code(column: pa.Array, spread: Spread) -> tuple[Codes, int]:
    if pa.types.is_nested(column.type):
        raise DataError(
            f"rows cannot be partitioned by values of type {column.type}",
            hint="partition by numbers, texts, booleans or times",
        )
    numbers = _small_numbers(column)
    if numbers is not None:
        return numbers
    if not isinstance(column, pa.DictionaryArray):
        return _encoded(column, spread)
    if _repeats(column.dictionary):
        return _encoded(column.dictionary_decode(), spread)
    indices, size = column.indices, len(column.dictionary)
    if indices.null_count:
        indices, size = pc.fill_null(indices.cast(pa.int32()), size), size + 1
    return np.asarray(indices).astype(np.int32, copy=False), size


def _encoded(column: pa.Array, spread: Spread) -> tuple[Codes, int]:
    """Numbers for values in the order in which they first come. Every range first numbers its own
    values."""
    ranges = cuts(len(column), spread.threads, LEAST)
    parts = [column.slice(begin, end - begin) for begin, end in ranges]
    encoded = spread.map(lambda part: part.dictionary_encode(null_encoding="encode"), parts)
    if len(encoded) == 1:
        return np.asarray(encoded[0].indices), len(encoded[0].dictionary)
    values = pa.concat_arrays([each.dictionary for each in encoded])
    every = values.dictionary_encode(null_encoding="encode")
    ends = np.cumsum([len(each.dictionary) for each in encoded])[:-1]
    codes = empty(len(column), np.int32)

    def renumber(part: pa.DictionaryArray, numbers: Codes, begin: int, end: int) -> None:
        np.take(numbers, np.asarray(part.indices), out=codes[begin:end], mode="clip")

    numbers = np.split(np.asarray(every.indices), ends)
    spread.map(renumber, encoded, numbers, *zip(*ranges, strict=True))
    return codes, len(every.dictionary)


def _small_numbers(column: pa.Array) -> tuple[Codes, int] | None:
    """Whole numbers that are close together, as their own codes, without a table."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    numbers = column.to_numpy(zero_copy_only=False)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > max(len(numbers), 1 << 10):
        return None
    return (numbers - low).astype(np.int32, copy=False), high - low + 1


def _repeats(dictionary: pa.Array) -> bool:
    return len(pc.unique(dictionary)) < len(dictionary)
