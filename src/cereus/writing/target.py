"""Where results are written, and in which format: decided by the name."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cereus.errors import CereusError, did_you_mean
from cereus.sources.formats import SUFFIXES, TEXT, compression_of, suffixes_of
from cereus.sources.places import is_remote

STANDARD_OUTPUT = "-"
FORMATS = ("parquet", "csv", "json", "arrow")
WRITTEN = tuple(suffix for suffix, kind in SUFFIXES.items() if kind in FORMATS)
FOLDER_FORMAT = "parquet"
PART = re.compile(r"\.?(\d+-)?part-\d+[^/]*\.(parquet|csv|tsv|json|arrow|orc|txt|gz|zst|bz2|crc)")
NOTES = re.compile(r"\.?_(SUCCESS|started_.*|committed_.*)(\.crc)?")
"""Files that may be in a folder of results: parts, complete or begun, and the notes of Spark."""
NOTED = ("_temporary", "_spark_metadata", "_delta_log")
VALUE = re.compile(r"[^.=]+=.*", re.DOTALL)
"""Folders that may be in one: the notes of Spark and Delta, and those of one value of a column
(`name=INTC`)."""


@dataclass(frozen=True)
class Target:
    """A file, a folder (its name ends in /), a URL, or standard output (-).

    format       "parquet", "csv", "json" or "arrow"
    compression  of text: "gzip", "zstd" or "bz2"
    """

    name: str
    format: str
    folder: bool = False
    compression: str | None = None

    @property
    def standard_output(self) -> bool:
        return self.name == STANDARD_OUTPUT

    @property
    def remote(self) -> bool:
        return is_remote(self.name)

    @property
    def path(self) -> Path:
        return Path(self.name)

    @property
    def delimiter(self) -> str:
        return "\t" if suffixes_of(self.name)[0] == ".tsv" else ","

    def part(self, number: int) -> Target:
        """A file of a folder."""
        suffix = "".join(suffixes_of(self.name)) or f".{self.format}"
        name = self.path / f"part-{number:05}{suffix}"
        return Target(str(name), self.format, compression=self.compression)

    def __str__(self) -> str:
        return "standard output" if self.standard_output else self.name


def target_of(name: str, format: str | None = None) -> Target:
    """The target that a name means; `format` is for names that do not show it."""
    if format is not None and format not in FORMATS:
        raise CereusError(f"unknown format {format!r}", hint=did_you_mean(format, FORMATS))
    if name == STANDARD_OUTPUT:
        return Target(name, format or "json")
    folder = name.endswith(("/", os.sep)) or (not is_remote(name) and Path(name).is_dir())
    bare = name.rstrip("/") if folder else name
    kind = format or _format_of(bare, folder)
    compression = compression_of(bare, None)
    if compression is not None and kind not in TEXT:
        raise CereusError(f"{kind} files are compressed inside", hint="leave out the last suffix")
    return Target(bare, kind, folder, compression)


def _format_of(name: str, folder: bool) -> str:
    suffix = suffixes_of(name)[0]
    if not suffix and folder:
        return FOLDER_FORMAT
    if SUFFIXES.get(suffix) not in FORMATS:
        raise CereusError(
            f"cannot tell in which format to write {name!r}",
            hint=f"end the name in one of {', '.join(WRITTEN)}, or write a folder, as matches/",
        )
    return SUFFIXES[suffix]


def check_room(target: Target, inputs: Iterable[str], *, overwrite: bool) -> None:
    """Make sure that a target can be written, without touching it yet."""
    if target.standard_output or target.remote:
        return
    path = target.path
    if any(path.absolute() == Path(each).absolute() for each in inputs):
        raise CereusError(f"{target.name!r} holds the events", hint="write to another file")
    need_directory(path)
    if path.exists() and not overwrite:
        raise CereusError(f"{target.name!r} exists", hint="replace it with --overwrite")
    check_replaced(target)


def make_room(target: Target) -> None:
    """Remove what the target replaces, after `check_room` has allowed it."""
    if target.standard_output or target.remote or not target.path.exists():
        return
    check_replaced(target)
    if target.path.is_dir():
        shutil.rmtree(target.path)
    else:
        target.path.unlink()


def check_replaced(target: Target) -> None:
    """Check that only a file, or a folder of results, would be removed: a mistyped name must not
    cost another folder."""
    path = target.path
    if path.is_dir():
        other = next(_no_results(path), None)
        if path.is_symlink() or other is not None:
            what = "a link" if other is None else f"a folder with other things, as {other!r}"
            hint = "write to a folder of its own, or remove this one yourself"
            raise CereusError(f"{target.name!r} is not replaced: it is {what}", hint=hint)
    elif path.exists() and (target.folder or not path.is_file()):
        hint = "write to another place, or remove this one yourself"
        raise CereusError(f"{target.name!r} is not replaced: it is no folder of results", hint=hint)


def _no_results(folder: Path) -> Iterator[str]:
    """The names in a folder that neither Cereus nor Spark gives to its output."""
    for path in folder.iterdir():
        name = path.name
        if path.is_symlink():
            yield name
        elif path.is_dir():
            if name not in NOTED:
                yield from _no_results(path) if VALUE.fullmatch(name) else [name]
        elif not PART.fullmatch(name) and not NOTES.fullmatch(name):
            yield name


def need_directory(path: Path) -> None:
    """Check that the directory of a file exists and can be written to."""
    above = path.absolute().parent
    if not above.is_dir():
        raise CereusError(f"there is no directory {str(path.parent)!r}", hint="make it first")
    if not os.access(above, os.W_OK | os.X_OK):
        raise CereusError(
            f"cannot write to the directory {str(path.parent)!r}",
            hint="write somewhere else, or change its permissions",
        )
