"""Copies of what is in Spark's store, as files of this machine that its workers share.

Spark gives a bucket now to this worker and then to that one, and to read bytes from the store costs
the JVM far more than to write them. So what is written is written here as well. A copy is known by
the digest of its bytes, and one that is missing, old or cut short is as good as none. The files lie
where Spark puts the files of an application, and go with them.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SMALLEST = 1 << 12
"""Pieces with fewer bytes have no copy: the store is as quick."""
KNOWN = 32
"""The characters of a digest; a file begins with them."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:KNOWN]  # processors have instructions for this one


@dataclass(frozen=True)
class Copies:
    """The copies of one bucket, in a folder."""

    folder: Path

    def put(self, name: str, data: bytes, known: str) -> None:
        """A file that cannot be written is no copy, and no error."""
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
