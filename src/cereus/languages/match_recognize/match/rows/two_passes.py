"""RowLetters → matches, by the two passes of `rows_kernel`."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np
import numpy.typing as npt

from cereus.engine.costs import Costs
from cereus.engine.memory import empty
from cereus.errors import LimitError
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.matching import (
    Ints,
    Moves,
    Output,
    RowMatches,
    Skipping,
    readable,
    refuse_skip,
)
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.rows import bits_kernel
from cereus.languages.match_recognize.match.rows import rows_kernel as kernel
from cereus.languages.match_recognize.match.rows.bits import SetBits
from cereus.languages.match_recognize.match.rows.look_ahead import RowsAhead, TooManySets

BITS = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
"""The marks of a row: one for each state."""
MOST_NUMBERS = 1 << 30
"""The most numbers, rows of a partition times states, where sets are not numbered: 4 GB."""
FEW_SETS, ROWS_PER_SET = 500, 500
"""The number of sets that are numbered in any case, and the number of rows that each further one
has to serve: working one out takes as long as reading this many rows without it."""


class TwoPasses:
    """Finds the matches of a pattern by the conditions of rows. Sets that were numbered are kept
    for the next rows."""

    def __init__(self, automaton: RowAutomaton, skip: Skipping, costs: Costs) -> None:
        """The rows that both passes read are added to the steps of `costs`."""
        self.automaton, self.skip, self.costs = automaton, skip, costs
        self._ahead: dict[tuple[int, ...], RowsAhead] = {}
        self._bits: dict[tuple[int, ...], SetBits] = {}

    def chunks(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        times: Ints | None = None,
        length: int = -1,
    ) -> Iterator[RowMatches]:
        """All matches, some at a time: their arrays are used again for the next ones. `masks` are
        the states that read each letter; with `times`, the last row of a match is less than
        `length` after the first."""
        largest = int(np.diff(bounds).max(initial=0))
        output = Output(len(letters), largest)
        try:
            done = length < 0 and (yield from self._without_window(masks, letters, bounds, output))
            if not done:
                times = np.zeros(1, np.int64) if times is None else times
                yield from self._by_states(masks, letters, bounds, output, times, length)
        finally:
            self.costs.steps += int(output.progress[codes.READ])
        yield output.matches()

    def taken(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        chosen: npt.NDArray[np.uint8] | None,
    ) -> tuple[int, Ints] | None:
        """How many matches have rows if every row may begin one, and which rows they take in the
        states `chosen`; for None, the last row of each. None if that would take too many sets."""
        if len(self.automaton) > len(BITS):
            return None
        ahead = self._sets_ahead(masks)
        sets = empty(len(letters), np.int32)
        progress = np.zeros(codes.PROGRESS, np.int64)
        try:
            while kernel.look_ahead(letters, bounds, ahead.steps, sets, progress) != codes.FINISHED:
                _work_out(ahead, progress, FEW_SETS)
        except TooManySets:
            return None
        met, marks = np.zeros(len(letters), np.uint64), np.zeros(len(letters), np.uint8)
        states = np.zeros(len(self.automaton) + 1, np.uint8) if chosen is None else chosen
        tables = ahead.choices, ahead.begins
        count = kernel.take_rows(
            bounds, sets, *tables, states, chosen is None, BITS, met, marks, progress
        )
        self.costs.steps += len(letters) + int(progress[codes.READ])
        return count, np.flatnonzero(marks)

    def _without_window(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        output: Output,
    ) -> Generator[RowMatches, None, bool]:
        """Find matches by sets as long as they are few, then by their bits; False if there are too
        many of these."""
        if tuple(masks) not in self._bits:
            if (yield from self._by_sets(masks, letters, bounds, output)):
                return True
            self._bits[tuple(masks)] = SetBits(self.automaton, masks)
        bits = self._bits[tuple(masks)]
        if bits.possible:
            yield from self._by_bits(bits, letters, bounds, output)
        return bits.possible

    def _by_bits(
        self, bits: SetBits, letters: npt.NDArray[np.uint16], bounds: Ints, output: Output
    ) -> Iterator[RowMatches]:
        skip, table = self.skip, Moves.of(self.automaton)
        sets = empty((max(output.largest, 1), bits.reads.shape[1]), np.uint64)
        while True:
            result = bits_kernel.find_by_bits(
                letters,
                bounds,
                bits.reads,
                bits.behind,
                bits.before,
                bits.always,
                bits.lasts,
                table.starts,
                table.moves,
                table.begin_starts,
                table.begins,
                skip.targets,
                skip.kind,
                bits.groups,
                sets,
                output.progress,
                output.starts,
                output.ends,
                output.states,
            )
            if result == codes.FINISHED:
                return
            if result == codes.OUTPUT_FULL:
                yield output.matches()
                output.empty()
            refuse_skip(result, skip.variable)

    def _by_sets(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        output: Output,
    ) -> Generator[RowMatches, None, bool]:
        """Find matches by sets; False if there are too many sets for the partition at hand."""
        skip = self.skip
        ahead = self._sets_ahead(masks)
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
                    progress = output.progress
                    _work_out(ahead, progress, FEW_SETS + progress[codes.READ] // ROWS_PER_SET)
                except TooManySets:
                    output.progress[codes.ROW] = -1
                    return False
            elif result == codes.OUTPUT_FULL:
                yield output.matches()
                output.empty()
            refuse_skip(result, skip.variable)

    def _sets_ahead(self, masks: list[int]) -> RowsAhead:
        key = tuple(masks)
        if key not in self._ahead:
            self._ahead[key] = RowsAhead(self.automaton, masks)
        return self._ahead[key]

    def _by_states(
        self,
        masks: list[int],
        letters: npt.NDArray[np.uint16],
        bounds: Ints,
        output: Output,
        times: Ints,
        length: int,
    ) -> Iterator[RowMatches]:
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
                yield output.matches()
                output.empty()
            refuse_skip(result, skip.variable)


def _work_out(ahead: RowsAhead, progress: Ints, most: int) -> None:
    """Fill in the step that was met, if there are at most so many sets."""
    if len(ahead.sets) > most:
        raise TooManySets
    ahead.work_out(int(progress[codes.SET]), int(progress[codes.CULPRIT]))
