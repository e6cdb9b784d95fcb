"""A mistake: a query or some lines that raise an error, and how they are written instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import cereus

SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "ts": pa.timestamp("us"),
        "name": pa.string(),
        "price": pa.float64(),
        "volume": pa.int64(),
        "card": pa.string(),
        "flag": pa.bool_(),
        "tags": pa.list_(pa.string()),
        "place": pa.struct({"city": pa.string(), "zip": pa.string()}),
    }
)
"""The events that the queries are about."""
FOLDER = Path(__file__).parent
STREAM = cereus.Stream(time="ts")


@dataclass(frozen=True)
class Mistake:
    """A query that is refused, and one that is not."""

    wrong: str
    right: str
    params: Mapping[str, Any] | None = None
    stream: cereus.Stream = STREAM
    right_stream: str | None = None
    """Where it is the stream that is mended: how that is written."""

    @property
    def mended_stream(self) -> cereus.Stream:
        if self.right_stream is None:
            return self.stream
        mended = eval(self.right_stream, {"cereus": cereus})
        assert isinstance(mended, cereus.Stream)
        return mended


@dataclass(frozen=True)
class Lines:
    """Lines of Python, or a command, that end in an error, and lines that do not."""

    title: str
    wrong: str
    right: str


def lines_of(name: str) -> list[Lines]:
    """The mistakes in a file: `====` parts them, `----` stands between what is wrong and what is
    right, and `# …` on a first line is the title of this and of the following ones."""
    title, found = "", []
    for part in (FOLDER / name).read_text("utf-8").rstrip().split("\n====\n"):
        if part.startswith("# "):
            title, part = part.removeprefix("# ").split("\n", 1)
        wrong, _, right = part.partition("\n----\n")
        found.append(Lines(title, wrong, right))
    return found
