"""Cuts files of lines into blocks of whole lines: for parsing, and for the tasks of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cereus.sources.places import EventFile

BLOCK = 1 << 24
SPAN = 1 << 26
NEW_LINE = b"\n"


@dataclass(frozen=True)
class Span:
    """A part of a file, from byte to byte: the lines that begin in it."""

    start: int
    end: int


def spans(place: EventFile, size: int = SPAN) -> list[Span | None]:
    """A file in parts that can be read separately; [None]: only as a whole, because it is
    compressed."""
    if place.compression is not None or place.size <= size:
        return [None]
    return [Span(at, min(at + size, place.size)) for at in range(0, place.size, size)]


def blocks(place: EventFile, span: Span | None = None, size: int = BLOCK) -> Iterator[bytes]:
    """The lines of a file, or of a part of it."""
    if span is None:
        with place.open() as stream:
            yield from _whole_lines(iter(lambda: stream.read(size), b""))
        return
    with place.open_anywhere() as file:
        yield from _whole_lines(_of_span(file, span, size))


def arrow_owned(block: bytes) -> pa.BufferReader:
    """The block, in memory of Arrow. A thread of Arrow's pool may be the last to release the data
    that it parses, after the interpreter began to end. Releasing memory of Python needs the
    interpreter, and the process would be aborted."""
    memory = pa.BufferOutputStream()
    memory.write(block)
    return pa.BufferReader(memory.getvalue())


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        cut = piece.rfind(NEW_LINE) + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
    if rest:
        yield rest


def _of_span(file: Any, span: Span, size: int) -> Iterator[bytes]:
    """The bytes from the first line that begins in the span to the end of the last one."""
    start = 0 if span.start == 0 else _after_line(file, span.start - 1)
    end = _after_line(file, span.end - 1)
    file.seek(start)
    while start < end:
        piece = file.read(min(size, end - start))
        start += len(piece)
        yield piece


def _after_line(file: Any, at: int, step: int = 1 << 16) -> int:
    """Where the line with the byte at `at` ends."""
    file.seek(at)
    while piece := file.read(step):
        cut = piece.find(NEW_LINE)
        if cut >= 0:
            return int(at + cut + 1)
        at += len(piece)
    return at
