"""Computes Spark's `xxhash64` of columns that numpy can hash: whole numbers, dates and timestamps.

The hash decides which bucket a key is in. Computed here, it need not travel with every event as a
column, which costs the JVM more than all of this; for other keys Spark computes it. The values must
be those of Spark, since they decide in which buckets the state of earlier runs is.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import types as st

Words = npt.NDArray[np.uint64]

SHORT = (st.ByteType, st.ShortType, st.IntegerType, st.DateType)
"""Spark hashes these as 32 bits, and those below as 64."""
LONG = (st.LongType, st.TimestampType, st.TimestampNTZType)
SEED = 42
P1, P2, P3, P4, P5 = (
    np.uint64(each)
    for each in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)


def can_hash(kind: st.DataType) -> bool:
    return isinstance(kind, SHORT + LONG)


def buckets_of(columns: Iterable[pa.Array], number: int) -> npt.NDArray[np.int64]:
    """The index of each row's bucket among `number`: `pmod(xxhash64(…), number)`."""
    hashes: Words | None = None
    for column in columns:
        seeds = np.full(len(column), SEED, np.uint64) if hashes is None else hashes
        hashes = _hashed(column, seeds)
    assert hashes is not None, "a key has a column"
    return hashes.view(np.int64) % number


def _hashed(column: pa.Array, seeds: Words) -> Words:
    """The hash with one more column; nulls leave it as it is."""
    is_short = column.type.bit_width < 64
    values = _integers(column).fill_null(0).to_numpy(zero_copy_only=False)
    hashes = (_of_int if is_short else _of_long)(values.view(np.uint64), seeds)
    if column.null_count:
        hashes = np.where(column.is_null().to_numpy(zero_copy_only=False), seeds, hashes)
    return hashes


def _integers(column: pa.Array) -> pa.Array:
    """Whole numbers of 64 bits: days and microseconds for dates and times."""
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64())


def _of_int(values: Words, seeds: Words) -> Words:
    hashes = seeds + P5 + np.uint64(4)
    hashes ^= (values & np.uint64(0xFFFFFFFF)) * P1
    return _mixed(_turned(hashes, 23) * P2 + P3)


def _of_long(values: Words, seeds: Words) -> Words:
    hashes = seeds + P5 + np.uint64(8)
    hashes ^= _turned(values * P2, 31) * P1
    return _mixed(_turned(hashes, 27) * P1 + P4)


def _mixed(hashes: Words) -> Words:
    hashes ^= hashes >> np.uint64(33)
    hashes *= P2
    hashes ^= hashes >> np.uint64(29)
    hashes *= P3
    hashes ^= hashes >> np.uint64(32)
    return hashes


def _turned(words: Words, by: int) -> Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))
