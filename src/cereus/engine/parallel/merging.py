"""Results of parts in the order in which one thread gives them.

Within a batch, results come by key, keys in the order in which they first occur in the input, and
those of a key as they were found; or, where they come in the order of events, by their rows. What
is emitted in several turns (*segments*) comes turn by turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
ROWS = 1 << 16
"""Of a batch of results."""
LONG_RUN = 64
"""Stretches of results at least so long on average are passed on as they are, not copied."""


@dataclass(frozen=True)
class RankedRows:
    """Results of one part: in which turn they were emitted, and what orders each of them."""

    rows: pa.RecordBatch
    segment: int
    ranks: Ints


def merged(parts: Sequence[RankedRows]) -> Iterator[pa.RecordBatch]:
    """The results of all parts, in order; those of equal rank stay as they are."""
    parts = [part for part in parts if part.rows.num_rows]
    if not parts:
        return
    ranks = np.concatenate([part.ranks for part in parts])
    segments = np.repeat([part.segment for part in parts], [len(part.ranks) for part in parts])
    if _in_order(ranks, segments):
        yield from (part.rows for part in parts)
        return
    order = np.lexsort((ranks, segments))
    breaks = np.flatnonzero(np.diff(order) != 1) + 1
    if len(order) >= LONG_RUN * (len(breaks) + 1):
        yield from _stretches(parts, order, breaks)
        return
    table = pa.Table.from_batches([part.rows for part in parts])
    yield from table.take(pa.array(order)).combine_chunks().to_batches(max_chunksize=ROWS)


def _in_order(ranks: Ints, segments: Ints) -> bool:
    later = np.diff(segments)
    return bool(np.all((later > 0) | ((later == 0) & (np.diff(ranks) >= 0))))


def _stretches(parts: Sequence[RankedRows], order: Ints, breaks: Ints) -> Iterator[pa.RecordBatch]:
    """Rows that stand together already, without copying them."""
    ends = np.cumsum([part.rows.num_rows for part in parts])
    bounds = np.concatenate([[0], breaks, [len(order)]])
    for begin, end in pairwise(bounds):
        at, stop = int(order[begin]), int(order[end - 1]) + 1
        while at < stop:
            place = int(np.searchsorted(ends, at, side="right"))
            here = at - (int(ends[place]) - parts[place].rows.num_rows)
            size = min(stop, int(ends[place])) - at
            yield parts[place].rows.slice(here, size)
            at += size
