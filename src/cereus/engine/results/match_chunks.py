"""Chunks of matches: what a kernel writes in one turn, and the arrays that it writes to."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.memory import empty
from cereus.engine.ranges import ranges
from cereus.errors import CereusError

if TYPE_CHECKING:
    from cereus.engine.kernel.kernel import Kernel

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
NO_COUNTS: Floats = np.zeros(0)
NO_TOTALS: Floats = np.zeros((0, 0))


class ChunkBuffer:
    """Arrays for the matches of one turn of the kernel; with `totals`, for counts of matches and
    this many totals over them."""

    def __init__(
        self, matches: int, cells: int, *, with_labels: bool, totals: int | None = None
    ) -> None:
        self.events = empty(cells, np.int64)
        self.labels = empty(cells if with_labels else 0, np.int32)
        self.offsets = empty(matches + 1, np.int32)
        self.first = empty(matches, np.int64)
        self.last = empty(matches, np.int64)
        self.at = empty(matches, np.int64)
        self.counts, self.totals = NO_COUNTS, NO_TOTALS
        if totals is not None:
            self.counts = empty(matches, np.float64)
            self.totals = empty((matches, totals), np.float64)

    @property
    def in_use(self) -> bool:
        """Whether someone still uses the arrays (the buffer itself has one reference)."""
        return max(sys.getrefcount(self.events), sys.getrefcount(self.offsets)) > 2


class BufferPool:
    """Buffers that are used again and again, since fresh memory costs more than writing to it.

    A buffer that a result still refers to is left alone, so results never change under a reader.
    Where matches are many, buffers become longer, up to `most` matches.
    """

    def __init__(
        self, matches: int, *, with_labels: bool, totals: int | None = None, most: int = 0
    ) -> None:
        self._matches, self._with_labels, self._totals = matches, with_labels, totals
        self._most = most
        self._cells = 8 * matches
        self._pool: list[ChunkBuffer] = []

    def free(self) -> ChunkBuffer:
        """A buffer that nobody uses."""
        for buffer in self._pool:
            if not buffer.in_use:
                return buffer
        buffer = ChunkBuffer(
            self._matches, self._cells, with_labels=self._with_labels, totals=self._totals
        )
        self._pool = [*self._pool[-2:], buffer]
        return buffer

    def grow(self) -> None:
        """Make the buffers longer, since one match did not fit."""
        self._cells *= 4
        self._pool = []

    def filled(self) -> None:
        """Note that a buffer was filled and there is more to come: longer ones take fewer turns."""
        if self._matches < self._most:
            self._matches = min(4 * self._matches, self._most)
            self.grow()


class BufferPools:
    """The pools of runners that run one after the other: those that need the same arrays share
    them. Hundreds of runners with buffers of their own took gigabytes."""

    def __init__(self) -> None:
        self._pools: dict[tuple[int, bool, int | None, int], BufferPool] = {}

    def pool(
        self, matches: int, *, with_labels: bool, totals: int | None = None, most: int = 0
    ) -> BufferPool:
        """The pool for buffers of this kind."""
        kind = matches, with_labels, totals, most
        if kind not in self._pools:
            self._pools[kind] = BufferPool(
                matches, with_labels=with_labels, totals=totals, most=most
            )
        return self._pools[kind]


@dataclass(frozen=True)
class MatchChunk:
    """Matches as a kernel wrote them.

    cells    the events of all matches, one after the other: their rows, or their ordinals
    labels   the number of each cell's label, when variables are selected
    offsets  where each match begins in the cells
    first, last, at  per match the ordinals of its first and last event, and of the one that it
                     is reported at
    counts, totals  when counting: how many matches a row stands for, and totals over them
    """

    cells: Ints
    labels: Codes
    offsets: Codes
    first: Ints
    last: Ints
    at: Ints
    counts: Floats = field(default_factory=lambda: NO_COUNTS)
    totals: Floats = field(default_factory=lambda: NO_TOTALS)

    def __len__(self) -> int:
        return len(self.at)

    @classmethod
    def written(cls, buffer: ChunkBuffer, kernel: Kernel, ordinals: Ints | None) -> MatchChunk:
        """The matches that a kernel wrote to a buffer; `ordinals` translates if the kernel counts
        events from 0."""
        matches, cells = kernel.match_count, kernel.cell_count
        first, last, at = buffer.first[:matches], buffer.last[:matches], buffer.at[:matches]
        if ordinals is not None:
            first, last, at = ordinals[first], ordinals[last], ordinals[at]
        return cls(
            cells=buffer.events[:cells],
            labels=buffer.labels[:cells],
            offsets=buffer.offsets[: matches + 1],
            first=first,
            last=last,
            at=at,
            counts=buffer.counts[:matches],
            totals=buffer.totals[:matches],
        )

    def copied(self) -> MatchChunk:
        """A copy of the listed matches, since the kernel writes to these arrays again."""
        return MatchChunk(*(np.array(getattr(self, name)) for name in LISTED))

    def only(self, kept: Mask) -> MatchChunk:
        """Some of the listed matches."""
        if kept.all():
            return self
        sizes = np.diff(self.offsets)
        cells = np.repeat(kept, sizes)
        return MatchChunk(
            cells=self.cells[cells],
            labels=self.labels[cells] if len(self.labels) else self.labels,
            offsets=np.append(0, np.cumsum(sizes[kept])).astype(np.int32),
            first=self.first[kept],
            last=self.last[kept],
            at=self.at[kept],
        )

    def span(self, begin: int, end: int) -> MatchChunk:
        """The listed matches from `begin` to `end`, in the same arrays."""
        if begin == 0 and end == len(self):
            return self
        cells = slice(self.offsets[begin], self.offsets[end])
        return MatchChunk(
            cells=self.cells[cells],
            labels=self.labels[cells],
            offsets=self.offsets[begin : end + 1] - self.offsets[begin],
            first=self.first[begin:end],
            last=self.last[begin:end],
            at=self.at[begin:end],
        )

    def take(self, places: Ints) -> MatchChunk:
        """The listed matches in these places, in this order."""
        sizes = np.diff(self.offsets)[places]
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int32)
        cells = ranges(self.offsets[places], sizes)
        return MatchChunk(
            cells=self.cells[cells],
            labels=self.labels[cells] if len(self.labels) else self.labels,
            offsets=offsets,
            first=self.first[places],
            last=self.last[places],
            at=self.at[places],
        )

    def cells_where(self, chosen: Mask) -> tuple[Codes, Ints]:
        """The chosen cells, and where those of each match begin among them."""
        before = np.zeros(len(chosen) + 1, np.int32)
        np.cumsum(chosen, out=before[1:])
        return before[self.offsets], self.cells[chosen]


LISTED = ("cells", "labels", "offsets", "first", "last", "at")
"""The arrays of matches that are listed, not counted."""


def joined(chunks: Sequence[MatchChunk]) -> MatchChunk:
    """The listed matches of several chunks in one."""
    if len(chunks) == 1:
        return chunks[0]
    sizes = np.concatenate([np.diff(chunk.offsets) for chunk in chunks])
    others = [name for name in LISTED if name != "offsets"]
    arrays = {name: np.concatenate([getattr(c, name) for c in chunks]) for name in others}
    return MatchChunk(offsets=np.append(0, np.cumsum(sizes)).astype(np.int32), **arrays)


FIRST, ENOUGH = 1 << 7, 1 << 12
"""The number of matches that are worth a batch of results. It is small at first, as the reader may
soon have seen enough."""


def together(chunks: Iterator[MatchChunk]) -> Iterator[MatchChunk]:
    """The same listed matches in fewer chunks. If the chunks end in an error, the matches before it
    are given first."""
    collected: list[MatchChunk] = []
    count, enough = 0, FIRST
    try:
        for chunk in chunks:
            collected.append(chunk.copied())
            count += len(chunk)
            if count >= enough:
                yield joined(collected)
                collected, count, enough = [], 0, ENOUGH
    except CereusError:
        if collected:
            yield joined(collected)
        raise
    if collected:
        yield joined(collected)
