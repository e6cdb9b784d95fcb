"""Snapshots: the state of a run as bytes, with the version and fingerprint of its plan.

State sets are nested tuples and frozensets of the automata's own small classes, so they are
pickled; reading accepts those classes, arrays and Arrow data, and nothing else.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import pickle
from typing import Any

import pyarrow as pa

from cereus.errors import SnapshotError

MAGIC = b"cereus-snapshot-1\n"
DIGEST = hashlib.sha256().digest_size
ALLOWED_MODULES = ("cereus.automata.", "cereus.engine.ingest.", "cereus.languages.", "numpy")
ALLOWED = {
    "builtins": ("frozenset", "set", "slice", "complex", "bytearray"),
    # values of events that states remember
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
}


def dump(header: dict[str, Any], state: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump((header, state))
    return MAGIC + sealed(buffer.getvalue())


def sealed(data: bytes) -> bytes:
    """Bytes with their digest before them: state that was damaged must not reach the kernel."""
    return hashlib.sha256(data).digest() + data


def unsealed(data: bytes) -> bytes:
    digest, rest = data[:DIGEST], data[DIGEST:]
    if hashlib.sha256(rest).digest() != digest:
        raise SnapshotError("these bytes are not a snapshot, or it was damaged")
    return rest


def load(snapshot: bytes, expected: dict[str, Any]) -> dict[str, Any]:
    """The state in a snapshot, if its header says that it belongs to this plan."""
    if not snapshot.startswith(MAGIC):
        raise SnapshotError("these bytes are not a snapshot of this version of Cereus")
    data = unsealed(snapshot[len(MAGIC) :])
    try:
        header, state = _Unpickler(io.BytesIO(data)).load()
    except SnapshotError:
        raise
    except Exception as error:
        raise SnapshotError(f"the snapshot cannot be read: {error}") from None
    for name, value in expected.items():
        if header.get(name) != value:
            raise SnapshotError(
                f"the snapshot was taken with another {name}: {header.get(name)!r}, "
                f"and this query has {value!r}",
                hint="restore it with the query that took it, or start fresh",
            )
    result: dict[str, Any] = state
    return result


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: object) -> Any:
        if isinstance(value, pa.Table):
            return _table_from, (_table_bytes(value),)
        if isinstance(value, pa.Array):
            return _array_from, (_table_bytes(pa.table({"": value})),)
        if type(value).__module__.startswith("pandas"):
            return _pandas_from, (type(value).__name__, value.value)  # type: ignore[attr-defined]
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        known = name in ALLOWED.get(module, ())
        if known or module == __name__ or module.startswith(ALLOWED_MODULES):
            return getattr(importlib.import_module(module), name)
        raise SnapshotError(f"the snapshot holds something unexpected: {module}.{name}")


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table_from(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _pandas_from(name: str, nanoseconds: int) -> Any:
    """A time or a duration with nanoseconds; only pandas has such, so it was there when saving."""
    if name not in ("Timestamp", "Timedelta"):
        raise SnapshotError(f"the snapshot holds something unexpected: pandas.{name}")
    try:
        return getattr(importlib.import_module("pandas"), name)(nanoseconds)
    except ImportError:
        raise SnapshotError(
            "the snapshot holds times with nanoseconds", hint="install pandas to restore it"
        ) from None


def _array_from(data: bytes) -> pa.Array:
    return _table_from(data).column(0).combine_chunks()
