"""RowLetters → matches, by the two passes of `rows_kernel`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty
from cereus.errors import DataError, LimitError
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match import rows_kernel as kernel
from cereus.languages.match_recognize.match.letters import RowLetters
from cereus.languages.match_recognize.match.look_ahead import RowsAhead, TooManySets
from cereus.languages.match_recognize.match.program import RowAutomaton

Ints = npt.NDArray[np.int64]

SKIPS = {
    tree.SkipTo.PAST_LAST_ROW: codes.PAST_LAST_ROW,
    tree.SkipTo.NEXT_ROW: codes.NEXT_ROW,
    tree.SkipTo.FIRST: codes.TO_FIRST,
    tree.SkipTo.LAST: codes.TO_LAST,
}
MOST_NUMBERS = 1 << 30
"""Rows of a partition times states, where sets are not numbered: 4 GB."""


@dataclass(frozen=True)
class Found:
    """Matches in the order of their starts: match m has the positions starts[m] to ends[m], and
    the states of its rows are states[offsets[m] : offsets[m + 1]]. Those in `timed_out` are
    partial matches that their window ended; None if there are no such."""

    starts: Ints
    ends: Ints
    states: npt.NDArray[np.int16]
    timed_out: npt.NDArray[np.bool_] | None = None

    @property
    def offsets(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.ends - self.starts)]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.starts)

    def copied(self) -> Found:
        """In arrays of its own."""
        return Found(self.starts.copy(), self.ends.copy(), self.states.copy(), self.timed_out)


@dataclass(frozen=True)
class Skipping:
    """AFTER MATCH SKIP for an automaton."""

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
    found = []
    for holds in letters.holds:
        found.append(sum(mask for v, mask in enumerate(of_variable) if holds >> v & 1))
    return found


MOST_MATCHES = 1 << 17
"""Matches that are found before they are looked at."""


class Output:
    """The arrays that a kernel writes matches to, until they are full."""

    def __init__(self, rows: int, largest: int, timeouts: bool = False) -> None:
        """For a table of so many rows, and of so many in its largest partition."""
        size = max(min(rows, MOST_MATCHES), 1)
        self.largest = largest
        self.starts = empty(size, np.int64)
        self.ends = empty(size, np.int64)
        self.timed_out = np.zeros(size if timeouts else 1, np.uint8)
        self._timeouts = timeouts
        self.states = empty(max(largest, 2 * size) + 1, np.int16)  # matches of a piece, mostly
        self.progress = np.array([0, -1, 0, 0, 0, 0, 0], np.int64)

    def empty(self) -> None:
        """Begin anew, once what was found has been read."""
        self.progress[2:4] = 0

    def found(self) -> Found:
        """What was written so far, in the arrays of this object."""
        matches, written = int(self.progress[2]), int(self.progress[3])
        timed_out = self.timed_out[:matches].astype(np.bool_) if self._timeouts else None
        return Found(self.starts[:matches], self.ends[:matches], self.states[:written], timed_out)


def joined(chunks: Iterable[Found]) -> Found:
    """All matches of chunks whose arrays are used again."""
    parts = [chunk.copied() for chunk in chunks]
    if len(parts) == 1:
        return parts[0]
    late = None
    if parts[0].timed_out is not None:
        late = np.concatenate([part.timed_out for part in parts if part.timed_out is not None])
    return Found(
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.states for part in parts]),
        late,
    )


def refuse_skip(result: int, variable: str | None) -> None:
    if result == codes.NOT_MAPPED:
        raise DataError(
            f"AFTER MATCH SKIP TO {variable}: no row of a match is mapped to {variable}",
            hint="skip to a variable that every match has",
        )
    if result == codes.FIRST_ROW:
        raise DataError(
            f"AFTER MATCH SKIP TO {variable}: that is the first row of a match, "
            "and the search would not go on",
            hint="use SKIP TO NEXT ROW",
        )


class TwoPasses:
    """Finds the matches of a pattern by the conditions of rows. Sets that were numbered are kept
    for the next rows."""

    def __init__(self, automaton: RowAutomaton, skip: Skipping) -> None:
        self.automaton, self.skip = automaton, skip
        self.steps = 0
        """Rows that were read by both passes."""
        self._ahead: dict[tuple[int, ...], RowsAhead] = {}

    def chunks(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        times: Ints | None = None,
        length: int = -1,
    ) -> Iterator[Found]:
        """All matches, some at a time: their arrays are used again for the next ones. `masks` are
        the states that read each letter; with `times`, the last row of a match is less than
        `length` after the first."""
        largest = int(np.diff(bounds).max(initial=0))
        output = Output(len(letters), largest)
        try:
            if length >= 0 or not (yield from self._by_sets(masks, letters, bounds, output)):
                times = np.zeros(1, np.int64) if times is None else times
                yield from self._by_states(masks, letters, bounds, output, times, length)
        finally:
            self.steps += int(output.progress[6])
        yield output.found()

    def _by_sets(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        output: Output,
    ) -> Generator[Found, None, bool]:
        """False if there are too many sets for the partition at hand."""
        skip = self.skip
        key = tuple(masks)
        ahead = self._ahead.get(key)
        if ahead is None:
            ahead = self._ahead[key] = RowsAhead(self.automaton, masks)
        sets = empty(output.largest + 1, np.int32)
        while True:
            result = kernel.find(
                letters,
                bounds,
                ahead.steps,
                ahead.choices,
                ahead.begins,
                skip.targets,
                skip.kind,
                sets,
                output.progress,
                output.starts,
                output.ends,
                output.states,
            )
            if result == codes.FINISHED:
                return True
            if result == codes.UNKNOWN_SET:
                try:
                    ahead.work_out(int(output.progress[5]), int(output.progress[4]))
                except TooManySets:
                    output.progress[1] = -1
                    return False
            elif result == codes.OUTPUT_FULL:
                yield output.found()
                output.empty()
            refuse_skip(result, skip.variable)

    def _by_states(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        output: Output,
        times: Ints,
        length: int,
    ) -> Iterator[Found]:
        size, skip, largest = len(self.automaton), self.skip, output.largest
        if largest * size > MOST_NUMBERS:
            raise LimitError(
                f"a partition of {largest:,} rows and a pattern of {size:,} states need more than "
                "4 GB to look ahead",
                hint="partition the rows, or use smaller bounds in {n,m}",
            )
        reach = empty((max(largest, 1), max(size, 1)), np.int32)
        table = Moves.of(self.automaton)
        while True:
            result = kernel.find_by_states(
                letters,
                bounds,
                readable(masks, size),
                table.starts,
                table.moves,
                table.begin_starts,
                table.begins,
                table.last,
                times,
                length,
                skip.targets,
                skip.kind,
                reach,
                output.progress,
                output.starts,
                output.ends,
                output.states,
            )
            if result == codes.FINISHED:
                return
            if result == codes.OUTPUT_FULL:
                yield output.found()
                output.empty()
            refuse_skip(result, skip.variable)


def readable(masks: list[int], size: int) -> npt.NDArray[np.uint8]:
    """Whether a row of a letter can be read by a state."""
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
