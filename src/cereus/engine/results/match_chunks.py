"""What the kernel finds, and the arrays that it writes to."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cereus.engine.ingest.batch_reader import Ints
from cereus.engine.match.memory import empty, filled

if TYPE_CHECKING:
    from cereus.engine.match.kernel import Kernel


class Chunk:
    """Room for the matches of one turn of the kernel."""

    def __init__(self, matches: int, cells: int, *, with_labels: bool, totals: int = 0) -> None:
        self.events = empty(cells, np.int64)
        self.labels = empty(cells if with_labels else 0, np.int32)
        self.offsets = filled(matches + 1, 0, np.int32)
        self.first = empty(matches, np.int64)
        self.last = empty(matches, np.int64)
        self.at = empty(matches, np.int64)
        self.counts = empty(matches, np.float64)
        self.totals = empty((matches, totals), np.float64)

    @property
    def in_use(self) -> bool:
        """Whether someone still looks at the arrays (the chunk itself holds one reference)."""
        return max(sys.getrefcount(self.events), sys.getrefcount(self.offsets)) > 2


class Chunks:
    """Chunks to be written to, again and again: fresh memory costs more than writing to it.

    A chunk that a result still refers to is left alone, so results never change under a reader.
    """

    def __init__(self, matches: int, *, with_labels: bool, totals: int = 0) -> None:
        self._matches, self._with_labels, self._totals = matches, with_labels, totals
        self._cells = 8 * matches
        self._pool: list[Chunk] = []

    def free(self) -> Chunk:
        for chunk in self._pool:
            if not chunk.in_use:
                return chunk
        chunk = Chunk(
            self._matches, self._cells, with_labels=self._with_labels, totals=self._totals
        )
        self._pool = [*self._pool[-2:], chunk]
        return chunk

    def grow(self) -> None:
        """One match did not fit: make the chunks longer."""
        self._cells *= 4
        self._pool = []


@dataclass(frozen=True)
class Found:
    """Matches as the kernel wrote them.

    cells    the events of all matches, one after the other: row numbers, or ordinals
    labels   the number of each cell's label, when variables are selected
    offsets  where each match begins in the cells
    first, last, at  per match the ordinals of its first and last event, and of the one that it
                     is reported at
    counts, totals  when counting: how many matches a row stands for, and totals over them
    """

    cells: Ints
    labels: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    first: Ints
    last: Ints
    at: Ints
    counts: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    totals: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.at)


def found_in(chunk: Chunk, kernel: Kernel, ordinals: Ints | None) -> Found:
    """What a kernel wrote to a chunk; `ordinals` translates if it counts events from 0."""
    matches, cells = kernel.match_count, kernel.cell_count
    first, last, at = chunk.first[:matches], chunk.last[:matches], chunk.at[:matches]
    if ordinals is not None:
        first, last, at = ordinals[first], ordinals[last], ordinals[at]
    offsets = chunk.offsets[: matches + 1]
    counts, totals = chunk.counts[:matches], chunk.totals[:matches]
    return Found(
        chunk.events[:cells], chunk.labels[:cells], offsets, first, last, at, counts, totals
    )
