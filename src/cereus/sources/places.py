"""Paths, directories, patterns and URLs → existing files, with the values in the names of their
directories (`day=1/`)."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from cereus.errors import DataError, shortened
from cereus.sources.files import STANDARD_INPUT, Files
from cereus.sources.formats import (
    KNOWN_FORMATS,
    TEXT,
    compression_of,
    format_of,
    one_format,
)

NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
BRACES = re.compile(r"\{([^{}]*)\}")
MOST_ALTERNATIVES = 10_000
"""The most names that a pattern with braces may stand for."""
LOCAL_URL = "file://"
HIDDEN = ("_", ".")
"""The first letters of the names of files that Spark and others write beside the rows."""


@dataclass(frozen=True)
class EventFile:
    """A file.

    name         as messages call it
    path         in its file system; `url` is None for a local file
    values       by name what its directories tell of all of its rows; None is NULL
    """

    name: str
    path: str
    size: int
    values: tuple[tuple[str, str | None], ...] = ()
    url: str | None = None
    compression: str | None = None

    def open(self) -> Any:
        """The bytes of the file, decompressed: a stream of Arrow's."""
        system = file_system(self.url)[0]
        return system.open_input_stream(self.path, compression=self.compression)

    def open_anywhere(self) -> Any:
        """The file for reading at any position; not for compressed files."""
        return file_system(self.url)[0].open_input_file(self.path)


def places(files: Files) -> tuple[list[EventFile], str]:
    """The files, in order, and their one format. Empty files of text are left out: they have no
    columns."""
    listed = [place for path in files.paths for place in _listed(path, files)]
    kind = files.format or one_format(place.name for place in listed)
    if kind not in TEXT:
        return listed, kind
    filled = [place for place in listed if place.size]
    if not filled:
        hint = "a CSV file begins with the names of its columns" if kind == "csv" else None
        raise DataError(f"{listed[0].name!r} is empty", hint=hint)
    return filled, kind


def is_remote(path: str) -> bool:
    """Whether a path is a URL, other than one of a local file."""
    return "://" in path and not path.startswith(LOCAL_URL)


def file_system(url: str | None) -> tuple[Any, str]:
    """The file system of a URL, and the path in it: Arrow's, or else fsspec's."""
    if url is None:
        return pafs.LocalFileSystem(), ""
    try:
        return pafs.FileSystem.from_uri(url)  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        return _by_fsspec(url)
    except OSError as error:
        raise DataError(
            f"cannot reach {url!r}: {error}",
            hint="a path, or a URL: s3://, gs://, hdfs://, and whatever fsspec knows",
        ) from None


def _by_fsspec(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        scheme = url.partition("://")[0]
        raise DataError(
            f"{scheme}:// is not a place that Arrow reads", hint="pip install fsspec"
        ) from None
    try:
        system, path = url_to_fs(url)
    except (ValueError, ImportError, OSError) as error:
        raise DataError(
            f"cannot reach {url!r}: {error}",
            hint="a path, or a URL: s3://, gs://, hdfs://, and whatever fsspec knows",
        ) from None
    return pafs.PyFileSystem(pafs.FSSpecHandler(system)), path


# ---------------------------------------------------------------- what is there


def _listed(path: str, files: Files) -> Iterator[EventFile]:
    if path == STANDARD_INPUT:
        yield _place(standard_input(files), files, STANDARD_INPUT)
    elif is_remote(path):
        yield from _remote(path, files)
    else:
        for each in present(path):
            yield from _local(each, files)


def present(path: str) -> list[str]:
    """The files and directories of this machine that a path, a pattern or a URL names; an error
    if there are none."""
    local = unquote(path.removeprefix(LOCAL_URL)) if path.startswith(LOCAL_URL) else path
    paths = matching(local)
    missing = next((each for each in paths if not _exists(each)), None)
    if missing is not None:
        raise DataError(f"there is no file {shortened(repr(missing))}", hint=_hint(missing, "path"))
    return paths


def matching(path: str) -> list[str]:
    """A path, or those that a pattern names, in order."""
    if _exists(path) or not (has_magic(path) or BRACES.search(path)):
        return [path]
    alike = sorted(each for part in _alternatives(path) for each in glob(part, recursive=True))
    if not alike:
        shown = shortened(repr(path))
        raise DataError(f"no file is called like {shown}", hint=_hint(path, "pattern"))
    return alike


def _hint(path: str, what: str) -> str:
    """What to do about a path; it may be an event in JSON."""
    if path.lstrip().startswith(("{", "[{")):
        return "a text is taken for a path; of JSON make dicts: json.loads(text)"
    return f"check the {what}"


def _exists(path: str) -> bool:
    """Whether a file exists; for a name that no file can have, it does not."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _alternatives(pattern: str) -> list[str]:
    """`{a,b}.csv` is `a.csv` and `b.csv`, as in Spark."""
    left, made = [pattern], []
    while left:
        part = left.pop()
        braces = BRACES.search(part)
        if braces is None:
            made.append(part)
        else:
            before, after = part[: braces.start()], part[braces.end() :]
            left += [before + one + after for one in reversed(braces[1].split(","))]
        if len(left) + len(made) > MOST_ALTERNATIVES:
            raise DataError(
                f"the pattern {shortened(repr(pattern))} stands for more than "
                f"{MOST_ALTERNATIVES:,} names",
                hint="write fewer {a,b}, or a list of paths",
            )
    return made


def _local(path: str, files: Files) -> list[EventFile]:
    """A file itself; for a directory, the files of events in it."""
    root = Path(path)
    if not root.is_dir():
        return [_place(path, files)]
    inside = (each for each in sorted(root.rglob("*")) if each.is_file())
    listed = [
        _place(str(each), files, values=partition_values(each.relative_to(root).parts[:-1]))
        for each in inside
        if _is_of_events(each.relative_to(root).parts, files)
    ]
    return _some(listed, path)


def _place(path: str, files: Files, name: str | None = None, **more: Any) -> EventFile:
    full = str(Path(path).absolute())
    compression = compression_of(path, files.compression)
    return EventFile(name or path, full, os.stat(path).st_size, compression=compression, **more)


def _remote(url: str, files: Files) -> list[EventFile]:
    """A file, or those in a directory, of a remote file system. Only the last name of a URL may be
    a pattern."""
    above, _, last = url.rpartition("/")
    root, like = (above, last) if has_magic(last) else (url, "*")
    system, path = file_system(root)
    try:
        info = system.get_file_info(path)
        if info.type == pafs.FileType.File:
            return [_remote_place(info, url, (), files)]
        inside = system.get_file_info(pafs.FileSelector(path, recursive=True))
    except OSError:
        raise DataError(f"there is no file {url!r}", hint="check the address") from None
    listed = [
        _remote_place(each, root, partition_values(_below(each.path, path)[:-1]), files)
        for each in sorted(inside, key=lambda each: str(each.path))
        if each.type == pafs.FileType.File
        and _is_of_events(_below(each.path, path), files)
        and fnmatch(each.base_name, like)
    ]
    return _some(listed, url)


def _remote_place(info: Any, url: str, values: Any, files: Files) -> EventFile:
    packed = compression_of(info.path, files.compression)
    return EventFile(info.path, info.path, info.size, values, url, packed)


def _below(path: str, root: str) -> tuple[str, ...]:
    return tuple(path.removeprefix(root).strip("/").split("/"))


def _is_of_events(parts: tuple[str, ...], files: Files) -> bool:
    shown = not any(part.startswith(HIDDEN) for part in parts)
    return shown and (files.format is not None or format_of(parts[-1]) is not None)


def _some(listed: list[EventFile], path: str) -> list[EventFile]:
    if not listed:
        raise DataError(f"there are no events in the directory {path!r}", hint=KNOWN_FORMATS)
    return listed


def partition_values(directories: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """`day=1/country=CH` → ("day", "1"), ("country", "CH"), as Hive writes them."""
    pairs = (name.partition("=") for name in directories if "=" in name)
    return tuple(
        (unquote(name), None if value == NULL_PARTITION else unquote(value))
        for name, _, value in pairs
    )


def standard_input(files: Files) -> str:
    """Standard input as a file: events are read more than once, to find their types."""
    if files.format is None:
        raise DataError(
            "the format of standard input is not known", hint='say format="csv", or format="json"'
        )
    with tempfile.NamedTemporaryFile(prefix="cereus-", delete=False) as file:
        atexit.register(Path(file.name).unlink, missing_ok=True)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return file.name
