"""Reads Arrow data in a state: IPC streams that are checked before they are trusted.

Arrow checks that a message is well formed and lies within its bytes. `validate` checks the rest.
Compressed buffers, which state themselves how large they become, are never written and are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import pyarrow as pa

from cereus.errors import SnapshotError
from cereus.state.damage import damaged

RECORD_BATCH, DICTIONARY_BATCH = "record batch", "dictionary"
HEADER, DATA, COMPRESSION = 2, 1, 3
"""Fields of Arrow's flatbuffers: of a message, of a dictionary batch, and of a record batch."""


def table_bytes(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def table_from(data: bytes | memoryview) -> pa.Table:
    """The table in some bytes, or a SnapshotError."""
    buffer = pa.py_buffer(bytes(data))
    try:
        _refuse_compressed(buffer)
        with pa.ipc.open_stream(buffer) as reader:
            table = reader.read_all()
        table.validate(full=True)
        _read_names(table.schema)
    except SnapshotError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error, EOFError) as error:
        raise damaged(error) from None
    return table


LARGEST_SCALE = 76


def schema_from(data: bytes | memoryview) -> pa.Schema:
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(bytes(data)))
        _read_names(schema)
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise damaged(error) from None
    return schema


def _read_names(fields: Iterable[pa.Field]) -> None:
    """Read all names: Arrow accepts names that are not text until someone reads them, and scales of
    decimals at which its casts crash."""
    for field in fields:
        assert isinstance(field.name, str)
        if pa.types.is_decimal(field.type) and abs(field.type.scale) > LARGEST_SCALE:
            raise ValueError(f"a decimal has the scale {field.type.scale}")
        _read_names(field.type.field(place) for place in range(field.type.num_fields))


def _refuse_compressed(buffer: pa.Buffer) -> None:
    for message in pa.ipc.MessageReader.open_stream(buffer):
        if message.type in (RECORD_BATCH, DICTIONARY_BATCH) and _is_compressed(message):
            raise damaged("its Arrow data is compressed, as none is written")


def _is_compressed(message: pa.ipc.Message) -> bool:
    """Whether the batch of a message, which is well formed for Arrow, has the field for
    compression."""
    data = bytes(message.metadata)
    (root,) = struct.unpack_from("<I", data, 0)
    batch = _table(data, root, HEADER)
    if message.type == DICTIONARY_BATCH:
        batch = _table(data, batch, DATA)
    return bool(batch and _field(data, batch, COMPRESSION))


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a flatbuffer's table is; 0 if it has none."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    slot = 4 + 2 * number
    if slot + 2 > size:
        return 0
    (offset,) = struct.unpack_from("<H", data, table - back + slot)
    return table + offset if offset else 0


def _table(data: bytes, table: int, number: int) -> int:
    """Where the table is that a field refers to; 0 if there is none."""
    at = _field(data, table, number) if table else 0
    return at + int(struct.unpack_from("<I", data, at)[0]) if at else 0
