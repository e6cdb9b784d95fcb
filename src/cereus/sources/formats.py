"""Finds the format and the compression of a file from its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from cereus.errors import DataError

SUFFIXES = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json",
            ".jsonl": "json", ".ndjson": "json", ".arrow": "arrow", ".feather": "arrow",
            ".ipc": "arrow", ".orc": "orc"}  # fmt: skip
FORMATS = ("csv", "json", "parquet", "arrow", "orc")
TEXT = ("csv", "json")
"""Formats whose files are lines of text: they do not contain the types of columns, may be
compressed, and may be empty."""
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}
COMPRESSIONS = ("gzip", "zstd", "bz2", "none")
KNOWN_FORMATS = f"known: {', '.join(sorted(SUFFIXES))}; of CSV and JSON also with .gz, .zst or .bz2"


def suffixes_of(path: str) -> tuple[str, str]:
    """The suffix for the format, and the one after it for the compression."""
    name = PurePosixPath(path.lower())
    if name.suffix in COMPRESSED:
        return PurePosixPath(name.stem).suffix, name.suffix
    return name.suffix, ""


def format_of(path: str) -> str | None:
    """The format by the name; only text is compressed as a whole file."""
    suffix, packed = suffixes_of(path)
    kind = SUFFIXES.get(suffix)
    return None if packed and kind not in TEXT else kind


def compression_of(path: str, given: str | None) -> str | None:
    named = given or COMPRESSED.get(suffixes_of(path)[1])
    return None if named == "none" else named


def one_format(paths: Iterable[str]) -> str:
    kinds = {known_format(path) for path in paths}
    if len(kinds) > 1:
        raise DataError(
            f"the inputs are of different formats: {', '.join(sorted(kinds))}",
            hint="run the query over files of one format",
        )
    (kind,) = kinds
    return kind


def known_format(path: str) -> str:
    kind = format_of(path)
    if kind is None:
        raise DataError(f"cannot tell the format of {path!r}", hint=KNOWN_FORMATS)
    return kind
