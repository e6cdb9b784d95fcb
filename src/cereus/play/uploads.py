"""Uploaded files: written to a directory that is removed when the playground ends."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from cereus.errors import CereusError
from cereus.sources.formats import KNOWN_FORMATS, format_of

MOST_UPLOADED = 256 << 20
"""The most bytes of one file."""
MOST_FILES = 20
LONGEST_NAME = 200
"""In bytes; file systems take 255."""


@dataclass
class Uploads:
    """The files that could be read, by the names that their events have."""

    paths: dict[str, str] = field(default_factory=dict)
    _directory: TemporaryDirectory[str] = field(
        default_factory=lambda: TemporaryDirectory(prefix="cereus-play-")
    )
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def keep(self, title: str, parts: AsyncIterable[bytes]) -> tuple[str, str]:
        """Write a file. Returns a new name for its events, and its path."""
        if len(self.paths) >= MOST_FILES:
            raise CereusError(f"{MOST_FILES} files are open already", hint="begin a new playground")
        name = f"upload-{next(self._numbers)}"
        path = Path(self._directory.name) / name / file_name(title)
        path.parent.mkdir()
        await _written(path, parts)
        return name, str(path)

    def close(self) -> None:
        self._directory.cleanup()


def file_name(title: str) -> str:
    """The last part of a name, whatever stands before it: a name from elsewhere cannot lead to
    another directory."""
    last = unquote(title).replace("\\", "/").rpartition("/")[2].encode(errors="replace")
    name = last[-LONGEST_NAME:].decode(errors="ignore")
    if not name.isprintable() or format_of(name) is None:
        raise CereusError(f"the format of {name!r} is not known", hint=KNOWN_FORMATS)
    return name


async def _written(path: Path, parts: AsyncIterable[bytes]) -> None:
    size = 0
    with path.open("wb") as file:
        async for part in parts:
            size += len(part)
            if size > MOST_UPLOADED:
                break
            file.write(part)
    if size > MOST_UPLOADED:
        path.unlink()
        raise CereusError(
            f"the file has more than {MOST_UPLOADED >> 20} MB",
            hint="cereus play FILE reads the first events of a file of any size",
        )
