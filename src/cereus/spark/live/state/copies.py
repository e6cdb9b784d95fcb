"""Copies of data in Spark's store, as files of this machine that its workers share.

Spark gives a bucket to one worker now and to another later, and reading bytes from the store costs
the JVM far more than writing them. So everything that is written there is written here as well. A
copy is identified by the digest of its bytes; one that is missing, old or cut short is ignored. The
files are where Spark puts the files of an application, and are removed with them.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SMALLEST = 1 << 12
"""Smaller pieces have no copy: the store is as quick."""
KNOWN = 32
"""The characters of a digest; a file begins with them."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:KNOWN]  # processors have instructions for this one


@dataclass(frozen=True)
class Copies:
    """The copies of one bucket, in a folder."""

    folder: Path

    def put(self, name: str, data: bytes, known: str) -> None:
        """Write a copy. A file that cannot be written is no error: there is just no copy."""
        if len(data) < SMALLEST:
            return
        with suppress(OSError):
            path = self._path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            beside.write_bytes(known.encode() + data)
            beside.replace(path)

    def get(self, name: str, known: str) -> bytes | None:
        try:
            stored = self._path(name).read_bytes()
        except OSError:
            return None
        data = stored[KNOWN:]
        is_it = stored[:KNOWN] == known.encode() and digest(data) == known
        return data if is_it else None

    def remove(self, name: str) -> None:
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / name.replace("/", "-")
