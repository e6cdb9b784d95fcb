"""The state of a bucket in Spark's store: a head, and pieces of any size by name.

Every call of the store is a message to the JVM and back, so the small pieces lie beside the head
in one value, which is read and written at once. The large ones are values of their own, split so
that none is too large for the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import NamedTuple, Protocol

from cereus.engine.snapshot import restoring
from cereus.state import checked

SMALL = 1 << 18
"""Bytes up to which a piece lies beside the head."""
CHUNK = 1 << 20
"""Bytes of one value of the state."""


class Segment(NamedTuple):
    """Events that wait: a number to find them by, their first and last time, and how many."""

    number: int
    first: int
    last: int
    rows: int


@dataclass(frozen=True)
class Head:
    """What is known of a bucket without reading it.

    passed    the watermark of the last step, in microseconds; None before there was one
    latest    the time of the last event that the engine has read, if that was since it last
              looked what to forget
    snapshot  what the engine's state is known by; None when there is none
    timer     when Spark is to wake the bucket
    heard     where a silent source is noticed: when events came last, by the clock, in milliseconds
    rules     what all rules are known by, where they may change
    """

    fingerprint: str
    text: str
    passed: int | None = None
    latest: int | None = None
    snapshot: str | None = None
    segments: tuple[Segment, ...] = ()
    timer: int | None = None
    heard: int | None = None
    rules: str | None = None

    @classmethod
    def of(cls, described: dict[str, object]) -> Head:
        segments: Iterable[list[int]] = described["segments"]  # type: ignore[assignment]
        return cls(**{**described, "segments": tuple(Segment(*each) for each in segments)})  # type: ignore[arg-type]


class Store(Protocol):
    """Where the state of one bucket is kept."""

    def read(self) -> tuple[str, bytes] | None:
        """The description of the state, and the small pieces."""

    def write(self, description: str, small: bytes) -> None: ...

    def chunk(self, name: str) -> bytes: ...

    def set_chunk(self, name: str, data: bytes | None) -> None: ...

    def wake(self, at: int, instead_of: int | None) -> None:
        """Set the time of the next call, when the watermark gets there without an event."""


@dataclass
class BucketState:
    """The state as it was read; what is changed is written by `save`.

    small   pieces that lie beside the head
    large   how many chunks each of the others has
    """

    store: Store
    head: Head | None = None
    small: dict[str, bytes] = field(default_factory=dict)
    large: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stored = self.store.read()
        if stored is None:
            self._saved = None
            return
        with restoring():
            self._take_up(*stored)
        self._saved = self._described()

    def _take_up(self, description: str, small: bytes) -> None:
        described = json.loads(description)
        self.head, self.large = Head.of(described["head"]), described["large"]
        begin = 0
        for name, size in described["small"].items():
            end = begin + checked.integer(size, f"the size of {name}", 0, len(small) - begin + 1)
            self.small[name] = small[begin:end]
            begin = end

    def _described(self) -> str:
        assert self.head is not None
        small = {name: len(data) for name, data in self.small.items()}
        return json.dumps({"head": asdict(self.head), "small": small, "large": self.large})

    def save(self) -> None:
        """Write the state if it changed. Pieces never change without the head."""
        description = self._described()
        if description != self._saved:
            self.store.write(description, b"".join(self.small.values()))

    def get(self, name: str) -> bytes:
        if name in self.small:
            return self.small[name]
        return b"".join(self.store.chunk(f"{name}/{n}") for n in range(self.large[name]))

    def set(self, name: str, data: bytes) -> None:
        if len(data) <= SMALL:
            self.remove(name)
            self.small[name] = data
            return
        chunks = -(-len(data) // CHUNK)
        self._drop(name, chunks)
        self.small.pop(name, None)
        self.large[name] = chunks
        for number in range(chunks):
            part = data[number * CHUNK : (number + 1) * CHUNK]
            self.store.set_chunk(f"{name}/{number}", part)

    def remove(self, name: str) -> None:
        self.small.pop(name, None)
        self._drop(name, 0)
        self.large.pop(name, None)

    def _drop(self, name: str, chunks: int) -> None:
        for number in range(chunks, self.large.get(name, 0)):
            self.store.set_chunk(f"{name}/{number}", None)

    def clear(self) -> None:
        for name in (*self.small, *self.large):
            self.remove(name)
