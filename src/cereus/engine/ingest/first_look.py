"""Reads from rows what does not depend on the rows before them: which tests they pass, which of
them have the same key, and the order of their times in each key. This is most of the work of
reading, and any thread may do it ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.ingest import codes
from cereus.engine.memory import empty
from cereus.errors import DataError

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Shards = npt.NDArray[np.uint8]


class FirstLookError(DataError):
    """Something is wrong with a batch. A first look cannot name the row: one thread reads all rows
    again, and its error does."""


class LocalSubstreams(NamedTuple):
    """The substreams of some rows: one for each distinct key, or a single one without keys.

    distinct  their keys, in the order in which they first come; None without keys
    counts    how many rows each has
    first, last  the times of its first and its last row; empty without a time column
    """

    distinct: pa.RecordBatch | None
    counts: Ints
    first: Ints
    last: Ints

    def only(self, chosen: npt.NDArray[np.bool_]) -> LocalSubstreams:
        """The chosen substreams only."""
        assert self.distinct is not None
        timed = chosen[: len(self.first)]
        return LocalSubstreams(
            self.distinct.filter(pa.array(chosen)),
            self.counts[chosen],
            self.first[timed],
            self.last[timed],
        )


@dataclass(frozen=True)
class FirstLook:
    """Some rows of a batch, looked at on their own.

    size      how many rows there are
    selected  the rows that are in the stream; None for all of them
    places    those of the rows in the stream that pass some test
    classes   the letter of each, by its number in `letters`
    letters   the letters that occur, as they first come
    keys      its substream, by the number in `substreams`
    positions how many rows of its substream come before it here; empty if they are not counted
    """

    size: int
    selected: Ints | None
    places: Ints
    classes: Codes
    letters: tuple[int, ...]
    keys: Codes
    positions: Ints
    substreams: LocalSubstreams
    costs: Costs

    @property
    def in_stream(self) -> int:
        """How many of the rows are in the stream."""
        return self.size if self.selected is None else len(self.selected)

    def of_shard(self, shards: Shards, shard: int) -> FirstLook:
        """Only the rows whose keys are in one shard; `shards` has the shard of each substream."""
        mine = shards == shard
        numbers = np.where(mine, np.cumsum(mine) - 1, -1).astype(np.int32)
        places, classes, keys, positions = codes.dealt_rows(
            self.places, self.classes, self.keys, self.positions, numbers
        )
        return replace(
            self,
            places=places,
            classes=classes,
            keys=keys,
            positions=positions,
            substreams=self.substreams.only(mine),
            costs=self.costs if shard == 0 else Costs(),
        )


class LookedAt:
    """The rows of a whole batch that was looked at in pieces."""

    def __init__(self, pieces: Sequence[FirstLook]) -> None:
        self.pieces = pieces

    @property
    def selected(self) -> Ints | None:
        """The rows that are in the stream; None for all."""
        if all(piece.selected is None for piece in self.pieces):
            return None
        rows = [np.arange(p.size) if p.selected is None else p.selected for p in self.pieces]
        return _shifted(rows, [piece.size for piece in self.pieces])

    @property
    def places(self) -> Ints:
        """The rows in the stream that pass some test."""
        return _shifted([p.places for p in self.pieces], [p.in_stream for p in self.pieces])

    def classes(self, known: dict[int, int]) -> Codes:
        """The letters of these rows, by the numbers in `known`."""
        return joined([_numbered(piece, known) for piece in self.pieces])

    @property
    def costs(self) -> Costs:
        return sum((piece.costs for piece in self.pieces), Costs())


def _numbered(piece: FirstLook, known: dict[int, int]) -> Codes:
    numbers = [known.setdefault(letter, len(known)) for letter in piece.letters]
    if numbers == list(range(len(numbers))):
        return piece.classes
    return codes.values_at(np.array(numbers, np.int32), piece.classes)


def joined(parts: list[npt.NDArray[np.int32]]) -> Codes:
    """One array of several."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts, out=empty(sum(map(len, parts)), np.int32))


def _shifted(parts: list[Ints], sizes: list[int]) -> Ints:
    """Places in pieces of these sizes as places in the whole batch."""
    if len(parts) == 1:
        return parts[0]
    shifted = empty(sum(map(len, parts)), np.int64)
    at = begin = 0
    for part, size in zip(parts, sizes, strict=True):
        np.add(part, begin, out=shifted[at : at + len(part)])
        at, begin = at + len(part), begin + size
    return shifted
