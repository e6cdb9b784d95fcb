"""The numbered sets of `rows_kernel`: made as rows ask for them, and kept for the next rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match.program import DONE, RowAutomaton

Int32s = npt.NDArray[np.int32]

MOST_SETS = 20_000
MOST_CELLS = 1 << 24
"""Numbers in the tables, at most: 64 MB. Beyond, sets are not numbered."""


class TooManySets(Exception):
    """The pattern has more sets over this data than the tables are made for."""


class RowsAhead:
    """Sets of states as bit masks of Python's integers, and the tables that the kernel reads."""

    def __init__(
        self, automaton: RowAutomaton, reads: list[int], *, ends_open: bool = False
    ) -> None:
        """`reads[letter]` are the states that can read a row of this letter, as a bit mask. With
        `ends_open` rows may follow, and anything may be completed by them."""
        self.automaton, self.reads = automaton, reads
        size = len(automaton)
        self._follow = [sum(1 << t for t in moves if t >= 0) for moves in automaton.moves]
        self._may_end = sum(1 << q for q, m in enumerate(automaton.moves) if DONE in m)
        self._numbers: dict[int, int] = {}
        self.sets: list[int] = []
        self.steps = np.full((0, len(reads)), -1, np.int32)
        self.choices = np.full((0, size), -1, np.int32)
        self.begins = np.full((0, 2), -1, np.int32)
        self._before: list[int] = []
        # Number 0 stands for what lies behind the last row.
        self._grow(8)
        self.sets.append(0)
        ends = [ends_open or last for last in automaton.ends]
        self._before.append(sum(1 << q for q, last in enumerate(ends) if last))
        self.choices[0] = np.where(np.array(automaton.ends, np.bool_), DONE, -1)

    def work_out(self, number: int, letter: int) -> None:
        """Fill in one step."""
        reached = self._before[number] & self.reads[letter]
        self.steps[number, letter] = self._number(reached)

    def _number(self, states: int) -> int:
        number = self._numbers.get(states)
        if number is not None:
            return number
        number = len(self.sets)
        if (
            number >= MOST_SETS
            or (number + 1) * (self.steps.shape[1] + len(self.reads)) > MOST_CELLS
        ):
            raise TooManySets
        if number == len(self.steps):
            self._grow(2 * number)
        self._numbers[states] = number
        self.sets.append(states)
        self._fill(number, states)
        return number

    def _fill(self, number: int, states: int) -> None:
        automaton = self.automaton
        before = 0
        for q, moves in enumerate(automaton.moves):
            choice = _first(moves, states)
            if choice != -1:
                before |= 1 << q
                self.choices[number, q] = choice
        self._before.append(before)
        for first, moves in enumerate(automaton.begin):
            self.begins[number, first] = _first(moves, states)

    def _grow(self, length: int) -> None:
        for name in ("steps", "choices", "begins"):
            old = getattr(self, name)
            new = np.full((length, old.shape[1]), -1, np.int32)
            new[: len(old)] = old
            setattr(self, name, new)


def _first(moves: tuple[int, ...], states: int) -> int:
    """The most preferred move into one of these states."""
    for target in moves:
        if target == DONE or states >> target & 1:
            return target
    return -1
