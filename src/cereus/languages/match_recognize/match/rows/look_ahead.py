"""The numbered sets of `rows_kernel`: made when rows need them, and kept for the next rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match.program import DONE, RowAutomaton

Int32s = npt.NDArray[np.int32]

MOST_SETS = 20_000
MOST_CELLS = 1 << 24
"""The most numbers in the tables: 64 MB. With more, sets are not numbered."""


class TooManySets(Exception):
    """The pattern has more sets over this data than the tables can hold."""


class RowsAhead:
    """Sets of states as bit masks of Python's integers, and the tables that the kernel reads."""

    def __init__(
        self, automaton: RowAutomaton, reads: list[int], *, ends_open: bool = False
    ) -> None:
        """`reads[letter]` are the states that can read a row of this letter, as a bit mask. With
        `ends_open` rows may follow, and anything may be completed by them."""
        self.automaton, self.reads = automaton, reads
        size = len(automaton)
        self._moves = FirstMoves((*automaton.moves, *automaton.begin))
        self._numbers: dict[int, int] = {}
        self.sets: list[int] = []
        self.steps = np.full((0, len(reads)), -1, np.int32)
        self.choices = np.full((0, size), -1, np.int32)
        self.begins = np.full((0, 2), -1, np.int32)
        self._before: list[int] = []
        # Number 0 is the set after the last row.
        self._grow(8)
        self.sets.append(0)
        ends = [ends_open or last for last in automaton.ends]
        self._before.append(sum(1 << q for q, last in enumerate(ends) if last))
        self.choices[0] = np.where(np.array(automaton.ends, np.bool_), DONE, -1)

    def work_out(self, number: int, letter: int) -> None:
        """Work out `steps[number, letter]`: the set of a row with this letter before such a row."""
        reached = self._before[number] & self.reads[letter]
        self.steps[number, letter] = self._number(reached)

    def _number(self, states: int) -> int:
        number = self._numbers.get(states)
        if number is not None:
            return number
        number = len(self.sets)
        if (
            number >= MOST_SETS
            or (number + 1) * (self.steps.shape[1] + self.choices.shape[1]) > MOST_CELLS
        ):
            raise TooManySets
        if number == len(self.steps):
            self._grow(2 * number)
        self._numbers[states] = number
        self.sets.append(states)
        self._fill(number, states)
        return number

    def _fill(self, number: int, states: int) -> None:
        size = len(self.automaton)
        first = self._moves.into(_as_flags(states, size))
        self.choices[number], self.begins[number] = first[:size], first[size:]
        self._before.append(_as_mask(first[:size] != -1))

    def _grow(self, length: int) -> None:
        for name in ("steps", "choices", "begins"):
            old = getattr(self, name)
            new = np.full((length, old.shape[1]), -1, np.int32)
            new[: len(old)] = old
            setattr(self, name, new)


class FirstMoves:
    """The most preferred move of many states at once."""

    def __init__(self, moves: tuple[tuple[int, ...], ...]) -> None:
        lengths = np.array([len(each) for each in moves], np.int64)
        self._size = len(moves)
        self._moving = np.flatnonzero(lengths)
        self._starts = (np.cumsum(lengths) - lengths)[self._moving]
        self._targets = np.array([target for each in moves for target in each], np.int32)

    def into(self, states: npt.NDArray[np.bool_]) -> Int32s:
        """For each state, the first move that is DONE or goes into one of `states`; -1 if none."""
        moves = np.full(self._size, -1, np.int32)
        if len(self._targets):
            last = len(self._targets)
            possible = np.append(states, True)[np.maximum(self._targets, -1)]
            places = np.where(possible, np.arange(last), last)
            first = np.minimum.reduceat(places, self._starts)
            ends = np.append(self._starts[1:], last)
            some = first < ends
            moves[self._moving[some]] = self._targets[first[some]]
        return moves


def _as_flags(states: int, size: int) -> npt.NDArray[np.bool_]:
    """A bit mask as an array."""
    written = np.frombuffer(states.to_bytes(size // 8 + 1, "little"), np.uint8)
    return np.unpackbits(written, count=size, bitorder="little").astype(np.bool_)


def _as_mask(flags: npt.NDArray[np.bool_]) -> int:
    """An array as a bit mask."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
