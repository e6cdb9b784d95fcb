"""The state of a bucket in Spark's store: a head, and pieces of any size by name.

Every call of the store is a message to the JVM and back, and reading bytes costs the JVM far more
than writing them. So only the head is read in every step, and a piece only if a worker does not
remember it (`warm`), and no worker of this machine has written it (`copies`). Pieces are split, so
that none is too large for the store.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

from cereus.engine.snapshot import restoring
from cereus.spark.live.state.copies import Copies, digest
from cereus.state import checked

CHUNK = 1 << 20
"""The bytes of one value of the state."""
MOST_CHUNKS = 1 << 20
"""The most values of one piece: a terabyte."""


class Segment(NamedTuple):
    """Events in the store: their number, their first and last time, how many they are and how
    large, and the digest of their bytes."""

    number: int
    first: int
    last: int
    rows: int
    size: int = 0
    known: str = ""

    def check(self) -> None:
        for number in (self.number, self.rows, self.size):
            checked.count(number, "the number or size of a segment")
        for time in (self.first, self.last):
            _check_time(time)
        checked.of_type(self.known, str, "the digest of a segment")


def _check_time(time: Any) -> None:
    checked.integer(time, "a time of a bucket")


@dataclass(frozen=True)
class Head:
    """What is known of a bucket without reading it.

    passed    the watermark of the last step, in microseconds; None before there was one
    latest    the time of the last event that the engine has read, if that was since it last
              looked what to forget
    snapshot  what the engine's snapshot is known by; None when there is none
    size      how large the snapshot is
    base      up to when the snapshot has read the events
    steps     the watermarks up to which the engine has read since then
    segments  the events that the snapshot has not read
    timer     when Spark is to wake the bucket
    heard     where a silent source is noticed: when events came last, by the clock, in milliseconds
    rules     what all rules are known by, where they may change
    carries   identifies the queries that can go on with this state
    """

    fingerprint: str
    text: str
    passed: int | None = None
    latest: int | None = None
    snapshot: str | None = None
    size: int = 0
    base: int | None = None
    steps: tuple[int, ...] = ()
    segments: tuple[Segment, ...] = ()
    timer: int | None = None
    heard: int | None = None
    rules: str | None = None
    carries: str | None = None

    @classmethod
    def of(cls, described: dict[str, Any]) -> Head:
        segments = tuple(Segment(*each) for each in described["segments"])
        # the first states had a snapshot of every step
        log = {"base": described["passed"], "steps": ()} if "base" not in described else {}
        steps = tuple(described.get("steps", ()))
        head = cls(**{**described, "steps": steps, **log, "segments": segments})
        head.check()
        return head

    def check(self) -> None:
        """Refuse values of a wrong type."""
        for name in ("fingerprint", "text"):
            checked.of_type(getattr(self, name), str, f"the {name} of a bucket")
        for known in (self.snapshot, self.rules, self.carries):
            checked.refuse_unless(known is None or type(known) is str, "a digest is not a text")
        for time in (self.passed, self.latest, self.base, self.timer, self.heard, *self.steps):
            if time is not None:
                _check_time(time)
        checked.count(self.size, "the size of the snapshot")
        for segment in self.segments:
            segment.check()
        numbers = {segment.number for segment in self.segments}
        checked.refuse_unless(len(numbers) == len(self.segments), "two segments have one number")

    def leads_to(self, later: Head) -> bool:
        """Whether an engine at this head gets to the later one by reading on: both go back to one
        snapshot, and have read the same since, as far as this one has come."""
        return (
            (self.fingerprint, self.snapshot, self.base)
            == (later.fingerprint, later.snapshot, later.base)
            and later.steps[: len(self.steps)] == self.steps
            and set(self.begun(self.passed)) == set(later.begun(self.passed))
        )

    def begun(self, passed: int | None) -> list[Segment]:
        """The segments that have events up to a time."""
        return [each for each in self.segments if passed is not None and each.first <= passed]


class Store(Protocol):
    """Where the state of one bucket is kept."""

    def read(self) -> tuple[str, bytes] | None:
        """The description of the state, and small pieces, which the first states kept beside it."""

    def write(self, description: str) -> None: ...

    def chunk(self, name: str) -> bytes: ...

    def set_chunk(self, name: str, data: bytes | None) -> None: ...

    def wake(self, at: int, instead_of: int | None) -> None:
        """Set the time of the next call, for when the watermark gets there without an event."""


@dataclass
class BucketState:
    """The state as it was read; what is changed is written by `save`.

    copies       of the pieces on this machine, if there are any
    chunks       how many values each piece is split into
    description  the text that the state is known by
    """

    store: Store
    copies: Copies | None = None
    head: Head | None = None
    chunks: dict[str, int] = field(default_factory=dict)
    description: str | None = None

    def __post_init__(self) -> None:
        stored = self.store.read()
        if stored is not None:
            self.description = stored[0]
            with restoring():
                self._take_up(*stored)

    def _take_up(self, description: str, small: bytes) -> None:
        described = json.loads(description)
        self.head = Head.of(described["head"])
        self.chunks = checked.of_type(described["large"], dict, "the pieces of a bucket")
        for name, count in self.chunks.items():
            checked.integer(count, f"the number of chunks of {name}", 0, MOST_CHUNKS)
        for name, data in small_pieces(described, small).items():
            self.set(name, data, digest(data))

    def save(self, head: Head) -> None:
        """Write the state if it changed. Pieces never change without the head."""
        self.head = head
        description = json.dumps({"head": asdict(head), "large": self.chunks})
        if description != self.description:
            self.store.write(description)
            self.description = description

    def get(self, name: str, known: str) -> bytes:
        """A piece; `known` is the digest that it is known by."""
        copy = None if self.copies is None else self.copies.get(name, known)
        if copy is not None:
            return copy
        with restoring():
            return b"".join(self.store.chunk(f"{name}/{n}") for n in range(self.chunks[name]))

    def set(self, name: str, data: bytes, known: str) -> None:
        if self.copies is not None:
            self.copies.put(name, data, known)
        chunks = -(-len(data) // CHUNK)
        self._drop(name, chunks)
        self.chunks[name] = chunks
        for number in range(chunks):
            part = data[number * CHUNK : (number + 1) * CHUNK]
            self.store.set_chunk(f"{name}/{number}", part)

    def remove(self, name: str) -> None:
        self._drop(name, 0)
        self.chunks.pop(name, None)
        if self.copies is not None:
            self.copies.remove(name)

    def _drop(self, name: str, chunks: int) -> None:
        for number in range(chunks, self.chunks.get(name, 0)):
            self.store.set_chunk(f"{name}/{number}", None)

    def clear(self) -> None:
        for name in tuple(self.chunks):
            self.remove(name)


def small_pieces(described: dict[str, Any], small: bytes) -> dict[str, bytes]:
    """The pieces beside the head, in the first states."""
    pieces, begin = {}, 0
    for name, size in described.get("small", {}).items():
        end = begin + checked.integer(size, f"the size of {name}", 0, len(small) - begin + 1)
        pieces[name] = small[begin:end]
        begin = end
    return pieces
