"""Matches, and the common part of all ways of finding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty
from cereus.errors import found_while_matching
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.letters import RowLetters
from cereus.languages.match_recognize.match.program import RowAutomaton

Ints = npt.NDArray[np.int64]

SKIPS = {
    tree.SkipTo.PAST_LAST_ROW: codes.PAST_LAST_ROW,
    tree.SkipTo.NEXT_ROW: codes.NEXT_ROW,
    tree.SkipTo.FIRST: codes.TO_FIRST,
    tree.SkipTo.LAST: codes.TO_LAST,
}


@dataclass(frozen=True)
class RowMatches:
    """Matches in the order of their starts: match m has the positions starts[m] to ends[m], and the
    states of its rows are states[offsets[m] : offsets[m + 1]]. Those in `timed_out` are partial
    matches whose window ended; None if there are none.

    States are kept as they were written: `stretches` are states of as many rows as `lengths` says
    (None: of one row each), and `restore` turns them into those of the clause. Long matches that
    overlap have many rows, and few measures need their states.
    """

    starts: Ints
    ends: Ints
    stretches: npt.NDArray[np.int16]
    timed_out: npt.NDArray[np.bool_] | None = None
    lengths: Ints | None = None
    restore: Callable[[RowMatches, npt.NDArray[np.int16]], npt.NDArray[np.int16]] | None = None

    @cached_property
    def states(self) -> npt.NDArray[np.int16]:
        """The state of each row of each match."""
        lengths = self.lengths
        states = self.stretches if lengths is None else np.repeat(self.stretches, lengths)
        return states if self.restore is None else self.restore(self, states)

    @property
    def offsets(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.ends - self.starts)]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.starts)

    def in_parts(self, rows: int) -> Iterator[RowMatches]:
        """The same matches, some at a time: of about this many rows together, or one match."""
        offsets = self.offsets
        stretches = offsets
        if self.lengths is not None:
            stretches = np.searchsorted(np.cumsum(self.lengths), offsets, side="right")
        first = 0
        while first < len(self):
            within = np.searchsorted(offsets, offsets[first] + rows, side="right") - 1
            last = max(int(within), first + 1)
            if first == 0 and last == len(self):
                yield self
                return
            yield self._part(slice(first, last), slice(stretches[first], stretches[last]))
            first = last

    def _part(self, matches: slice, stretches: slice) -> RowMatches:
        return replace(
            self,
            starts=self.starts[matches],
            ends=self.ends[matches],
            stretches=self.stretches[stretches],
            timed_out=None if self.timed_out is None else self.timed_out[matches],
            lengths=None if self.lengths is None else self.lengths[stretches],
        )

    def copied(self) -> RowMatches:
        """A copy with its own arrays."""
        lengths = None if self.lengths is None else self.lengths.copy()
        stretches = self.stretches.copy()
        return replace(
            self,
            starts=self.starts.copy(),
            ends=self.ends.copy(),
            stretches=stretches,
            lengths=lengths,
        )


@dataclass(frozen=True)
class Skipping:
    """AFTER MATCH SKIP: where to go on, and the states whose rows are the variable's."""

    kind: int
    targets: npt.NDArray[np.uint8]
    variable: str | None


def skipping(clause: tree.Clause, automaton: RowAutomaton) -> Skipping:
    skip = clause.skip
    members = clause.members(skip.variable) if skip.variable is not None else frozenset[str]()
    targets = np.array([label in members for label in automaton.labels] or [False], np.uint8)
    return Skipping(SKIPS[skip.to], targets, skip.variable)


def state_masks(
    automaton: RowAutomaton, variables: tuple[str, ...], letters: RowLetters
) -> list[int]:
    """For each letter the states that can read a row of it."""
    of_variable = [
        sum(1 << q for q, label in enumerate(automaton.labels) if label == variable)
        for variable in variables
    ]
    masks = []
    for holds in letters.holds:
        masks.append(sum(mask for v, mask in enumerate(of_variable) if holds >> v & 1))
    return masks


MOST_MATCHES = 1 << 17
"""The most matches that are found before they are passed on."""


class MatchOutput:
    """The arrays that a kernel writes matches to, until they are full."""

    def __init__(
        self, rows: int, largest: int, timeouts: bool = False, stretches: bool = False
    ) -> None:
        """Arrays for a table of `rows` rows, with `largest` rows in its largest partition. With
        `stretches`, each state is written with the number of its rows."""
        size = max(min(rows, MOST_MATCHES), 1)
        self.largest = largest
        self.starts = empty(size, np.int64)
        self.ends = empty(size, np.int64)
        self.timed_out = np.zeros(size if timeouts else 1, np.uint8)
        self.timeouts = timeouts
        self.states = empty(max(largest, 2 * size) + 1, np.int16)  # matches of a piece, mostly
        self.lengths = empty(len(self.states), np.int64) if stretches else None
        self.progress = np.zeros(codes.PROGRESS, np.int64)
        self.progress[codes.ROW] = -1

    def empty(self) -> None:
        """Begin again, once the matches have been read."""
        self.progress[[codes.MATCHES, codes.WRITTEN]] = 0

    def matches(self) -> RowMatches:
        """The matches that were written so far, in the arrays of this object."""
        matches, written = self.progress[[codes.MATCHES, codes.WRITTEN]].tolist()
        timed_out = self.timed_out[:matches].astype(np.bool_) if self.timeouts else None
        return RowMatches(
            self.starts[:matches],
            self.ends[:matches],
            self.states[:written],
            timed_out,
            None if self.lengths is None else self.lengths[:written],
        )


def joined(chunks: Iterable[RowMatches]) -> RowMatches:
    """All matches of chunks whose arrays are used again."""
    parts = [chunk.copied() for chunk in chunks]
    if len(parts) == 1:
        return parts[0]
    late = None
    if parts[0].timed_out is not None:
        late = np.concatenate([part.timed_out for part in parts if part.timed_out is not None])
    lengths = [part.lengths for part in parts if part.lengths is not None]
    return RowMatches(
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.stretches for part in parts]),
        late,
        np.concatenate(lengths) if lengths else None,
        parts[0].restore,
    )


def refuse_skip(result: int, variable: str | None) -> None:
    if result == codes.NOT_MAPPED:
        raise found_while_matching(
            f"AFTER MATCH SKIP TO {variable}: no row of a match is mapped to {variable}",
            hint="skip to a variable that every match has",
        )
    if result == codes.FIRST_ROW:
        raise found_while_matching(
            f"AFTER MATCH SKIP TO {variable}: that is the first row of a match, "
            "and the search would not go on",
            hint="use SKIP TO NEXT ROW",
        )


def readable(masks: list[int], size: int) -> npt.NDArray[np.uint8]:
    """Which states can read a row of each letter."""
    return np.array([[mask >> q & 1 for q in range(size)] for mask in masks], np.uint8).reshape(
        len(masks), size
    )


@dataclass(frozen=True)
class Moves:
    """The moves of an automaton as arrays: those of q are moves[starts[q] : starts[q + 1]]."""

    starts: npt.NDArray[np.int32]
    moves: npt.NDArray[np.int32]
    begin_starts: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int32]
    last: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, automaton: RowAutomaton) -> Moves:
        starts, moves = _flat(automaton.moves)
        begin_starts, begins = _flat(automaton.begin)
        return cls(starts, moves, begin_starts, begins, np.array(automaton.ends, np.uint8))


def _flat(lists: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    starts = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int32)
    return starts, np.array([item for each in lists for item in each], np.int32)
