"""Snapshots: the state of a run as bytes, with the version and fingerprint of its plan.

A line that names the format, a digest, and a pair of header and state as `state.codec` writes
values (docs/snapshots.md). Whatever the bytes, reading them ends in the state or a SnapshotError.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from cereus.errors import SnapshotError
from cereus.state import checked, codec
from cereus.state.damage import damaged

NAME = b"cereus-snapshot-"
MAGIC = NAME + b"2\n"
DIGEST = hashlib.sha256().digest_size


def dump(header: dict[str, Any], state: dict[str, Any]) -> bytes:
    return MAGIC + sealed(codec.encode((header, state)))


def sealed(data: bytes) -> bytes:
    """Bytes with their digest in front, so that damage is noticed before anything is read."""
    return hashlib.sha256(data).digest() + data


def unsealed(data: bytes | memoryview) -> memoryview:
    view = memoryview(data)
    digest, rest = view[:DIGEST], view[DIGEST:]
    if hashlib.sha256(rest).digest() != digest:
        raise damaged("its digest is another one")
    return rest


def load(snapshot: bytes | memoryview, expected: dict[str, Any]) -> dict[str, Any]:
    """The state in a snapshot. A snapshot whose header is not that of this plan is refused."""
    view = memoryview(snapshot)
    if view[: len(MAGIC)] != MAGIC:
        raise _not_this_format(bytes(view[: len(MAGIC)]))
    content = codec.decode(unsealed(view[len(MAGIC) :]))
    with restoring():
        header, state = checked.of_type(content, tuple, "what it holds")
        _check_header(checked.of_type(header, dict, "its header"), expected)
        return dict(checked.of_type(state, dict, "its state"))


def _not_this_format(begin: bytes) -> SnapshotError:
    if begin.startswith(NAME):
        return SnapshotError(
            "the snapshot was taken by another version of Cereus, in a format that this one "
            "does not read",
            hint="go on with that version, or start fresh",
        )
    return damaged("a snapshot begins with another word")


def _check_header(header: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if header.get(name) != value:
            raise SnapshotError(
                f"the snapshot was taken with another {name}: {header.get(name)!r}, "
                f"and this query has {value!r}",
                hint="restore it with the query that took it, or start fresh",
            )


@contextmanager
def restoring() -> Iterator[None]:
    """Turn errors inside into a SnapshotError: the state was not saved by this code."""
    try:
        yield
    except SnapshotError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
            OSError, MemoryError, RecursionError, pa.ArrowException) as error:  # fmt: skip
        raise damaged(error or type(error).__name__) from None
