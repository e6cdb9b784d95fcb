"""Finds matches where conditions read only rows: one pass back over their letters, one forward."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
import numpy.typing as npt

from cereus.engine.costs import Costs
from cereus.engine.memory import empty
from cereus.errors import LimitError
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.matching import (
    Ints,
    MatchOutput,
    Moves,
    RowMatches,
    Skipping,
    refuse_skip,
)
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.rows import bits_kernel
from cereus.languages.match_recognize.match.rows import rows_kernel as kernel
from cereus.languages.match_recognize.match.rows.bits import SetBits
from cereus.languages.match_recognize.match.rows.look_ahead import RowsAhead, TooManySets
from cereus.languages.match_recognize.match.searched import Searched

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

    def chunks(self, searched: Searched) -> Iterator[RowMatches]:
        """All matches, some at a time: their arrays are used again for the next ones."""
        output = MatchOutput(len(searched.rows), searched.rows.largest)
        try:
            windowed = searched.times is not None
            if windowed or not (yield from self._without_window(searched, output)):
                yield from self._by_states(searched, output)
        finally:
            self.costs.steps += int(output.progress[codes.READ])
        yield output.matches()

    def taken(
        self, searched: Searched, chosen: npt.NDArray[np.uint8] | None
    ) -> tuple[int, Ints] | None:
        """How many matches have rows if every row may begin one, and which rows they take in the
        states `chosen`; for None, the last row of each. None if that would take too many sets."""
        if len(self.automaton) > len(BITS):
            return None
        letters, bounds = searched.letters.numbers, searched.rows.bounds
        ahead = self._sets_ahead(searched)
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
        self, searched: Searched, output: MatchOutput
    ) -> Generator[RowMatches, None, bool]:
        """Find matches by sets as long as they are few, then by their bits; False if there are too
        many of these."""
        key = tuple(searched.masks)
        if key not in self._bits:
            if (yield from self._by_sets(searched, output)):
                return True
            self._bits[key] = SetBits(self.automaton, searched.masks)
        bits = self._bits[key]
        if bits.possible:
            yield from self._by_bits(bits, searched, output)
        return bits.possible

    def _emptied(self, output: MatchOutput, find: Callable[[], int]) -> Iterator[RowMatches]:
        """The matches that a kernel finds, each time the output is full; the last stay there."""
        while (result := find()) != codes.FINISHED:
            if result == codes.OUTPUT_FULL:
                yield output.matches()
                output.empty()
            refuse_skip(result, self.skip.variable)

    def _by_bits(
        self, bits: SetBits, searched: Searched, output: MatchOutput
    ) -> Iterator[RowMatches]:
        table = Moves.of(self.automaton)
        sets = empty((max(output.largest, 1), bits.reads.shape[1]), np.uint64)
        return self._emptied(
            output,
            lambda: bits_kernel.find_by_bits(
                searched.letters.numbers,
                searched.rows.bounds,
                bits.reads,
                bits.behind,
                bits.before,
                bits.always,
                bits.lasts,
                table.starts,
                table.moves,
                table.begin_starts,
                table.begins,
                self.skip.targets,
                self.skip.kind,
                bits.groups,
                sets,
                output.progress,
                output.starts,
                output.ends,
                output.states,
            ),
        )

    def _by_sets(
        self, searched: Searched, output: MatchOutput
    ) -> Generator[RowMatches, None, bool]:
        """Find matches by sets; False if there are too many sets for the partition at hand."""
        ahead = self._sets_ahead(searched)
        sets = empty(output.largest + 1, np.int32)

        def find() -> int:
            while True:
                result: int = kernel.find(
                    searched.letters.numbers,
                    searched.rows.bounds,
                    ahead.steps,
                    ahead.choices,
                    ahead.begins,
                    self.skip.targets,
                    self.skip.kind,
                    sets,
                    output.progress,
                    output.starts,
                    output.ends,
                    output.states,
                )
                if result != codes.UNKNOWN_SET:
                    return result
                progress = output.progress
                _work_out(ahead, progress, FEW_SETS + progress[codes.READ] // ROWS_PER_SET)

        try:
            yield from self._emptied(output, find)
        except TooManySets:
            output.progress[codes.ROW] = -1
            return False
        return True

    def _sets_ahead(self, searched: Searched) -> RowsAhead:
        key = tuple(searched.masks)
        if key not in self._ahead:
            self._ahead[key] = RowsAhead(self.automaton, searched.masks)
        return self._ahead[key]

    def _by_states(self, searched: Searched, output: MatchOutput) -> Iterator[RowMatches]:
        size, largest = len(self.automaton), output.largest
        if largest * size > MOST_NUMBERS:
            raise LimitError(
                f"a partition of {largest:,} rows and a pattern of {size:,} states need more than "
                "4 GB to look ahead",
                hint="partition the rows, or use smaller bounds in {n,m}",
            )
        reach = empty((max(largest, 1), max(size, 1)), np.int32)
        table = Moves.of(self.automaton)
        times = np.zeros(1, np.int64) if searched.times is None else searched.times
        return self._emptied(
            output,
            lambda: kernel.find_by_states(
                searched.letters.numbers,
                searched.rows.bounds,
                searched.readable,
                table.starts,
                table.moves,
                table.begin_starts,
                table.begins,
                table.last,
                times,
                searched.length,
                self.skip.targets,
                self.skip.kind,
                reach,
                output.progress,
                output.starts,
                output.ends,
                output.states,
            ),
        )


def _work_out(ahead: RowsAhead, progress: Ints, most: int) -> None:
    """Fill in the step that was met, if there are at most so many sets."""
    if len(ahead.sets) > most:
        raise TooManySets
    ahead.work_out(int(progress[codes.SET]), int(progress[codes.CULPRIT]))
