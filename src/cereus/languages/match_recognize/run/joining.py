"""Joins batches into one table, each of whose columns is in one piece.

Batches are mostly cut from one table. Parts that are next to each other in memory are joined
without a copy: for ten million rows a copy would take as long as all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa


def joined(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """The rows of all batches."""
    if len(batches) == 1:
        return pa.Table.from_batches(batches, schema)
    columns = [_column([batch.column(at) for batch in batches], schema.field(at).type)
               for at in range(len(schema))]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=schema)


def _column(parts: list[pa.Array], kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    parts = [part for part in parts if len(part)]
    if not parts:
        return pa.array([], kind)
    if _flat(kind) and all(_follows(*pair) for pair in pairwise(parts)):
        length = sum(map(len, parts))
        return pa.Array.from_buffers(kind, length, parts[0].buffers(), -1, parts[0].offset)
    return pa.chunked_array(parts, kind).combine_chunks()


def _flat(kind: pa.DataType) -> bool:
    """Whether an array of this type has only buffers, and no child arrays."""
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(pa.types.is_primitive(kind) or text)


def _follows(left: pa.Array, right: pa.Array) -> bool:
    """Whether two arrays are neighbouring parts of one."""
    if int(left.offset) + len(left) != int(right.offset):
        return False
    pairs = zip(left.buffers(), right.buffers(), strict=True)
    return all(_address(one) == _address(other) for one, other in pairs)


def _address(buffer: pa.Buffer | None) -> int | None:
    return None if buffer is None else buffer.address
