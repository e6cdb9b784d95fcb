"""The automaton as the kernel sees it: numbered states and classes, tables filled on demand.

This is the subset construction of Prop. 5.5 (I/O-determinisation), one entry at a time: only the
pairs of state set and letter that the stream really brings are ever computed, so a pattern whose
full determinisation would be exponential still runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cereus.automata.automaton import NOTHING, Automaton, Label, States, targets_by_label
from cereus.errors import LimitError

STAY, UNKNOWN, NONE = -1, -2, -1
UNMARKED, UNSEEN, FIRST_SHOWN = 0, 1, 2
MAX_STATES = 100_000


class TransitionTable:
    """`head[s, c]` is STAY, UNKNOWN, or where the moves of state s on class c stand in `edges`:
    their number, then (label, target) pairs. `gap_to[s]` is the move on an irrelevant event."""

    def __init__(
        self,
        automaton: Automaton,
        label_code: Callable[[Label], int],
        *,
        letters: list[int] | None = None,
        max_states: int = MAX_STATES,
    ) -> None:
        self.automaton = automaton
        self.label_code = label_code
        self.max_states = max_states
        self.letters: list[int] = [] if letters is None else letters
        self.subsets: list[States] = []
        self._numbers: dict[States, int] = {}
        self.head: npt.NDArray[np.int32] = np.full((4, 8), UNKNOWN, np.int32)
        self.edges: npt.NDArray[np.int32] = np.zeros(64, np.int32)
        self.accepting: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
        self.gap_to: npt.NDArray[np.int32] = np.full(4, UNKNOWN, np.int32)
        self._edges_used = 0
        self.initial = self.number(frozenset(automaton.initial()))

    @property
    def n_states(self) -> int:
        return len(self.subsets)

    def preload(self, subsets: list[States]) -> None:
        """Number state sets as another table has numbered them."""
        for subset in subsets:
            self.number(subset)

    def know(self, letters: list[int]) -> None:
        """Class c looks like letters[c]; classes known before keep their numbers."""
        self.letters[:] = letters
        classes = len(letters)
        if classes > self.head.shape[1]:
            wider = np.full((self.head.shape[0], max(classes, 2 * self.head.shape[1])), UNKNOWN)
            wider[:, : self.head.shape[1]] = self.head
            self.head = wider.astype(np.int32)

    def forget_classes(self, letters: list[int]) -> None:
        """Number classes anew; the states stay."""
        self.letters[:] = letters
        self.head = np.full((self.head.shape[0], max(8, len(letters))), UNKNOWN, np.int32)
        self._edges_used = 0

    def expand(self, state: int, letter_class: int) -> None:
        """Fill in the moves of a state on a class."""
        moves = self._moves(self.subsets[state], self.letters[letter_class])
        numbered = [(code, self.number(subset)) for code, subset in moves]
        if numbered == [(UNMARKED, state)]:
            self.head[state, letter_class] = STAY
            return
        self.head[state, letter_class] = self._append(numbered)

    def expand_gap(self, state: int) -> int:
        """Fill in the move of a state on an event that satisfies no atom."""
        moves = self._moves(self.subsets[state], 0)
        target = self.number(moves[0][1]) if moves else NONE
        self.gap_to[state] = target
        return target

    def _moves(self, subset: States, letter: int) -> list[tuple[int, States]]:
        by_code: dict[int, set[object]] = {}
        for label, reached in targets_by_label(self.automaton, subset, letter).items():
            code = UNMARKED if label == NOTHING else self.label_code(label)
            by_code.setdefault(code, set()).update(reached)
        return [(code, frozenset(reached)) for code, reached in sorted(by_code.items())]

    def _append(self, moves: list[tuple[int, int]]) -> int:
        at = self._edges_used
        needed = at + 1 + 2 * len(moves)
        if needed > len(self.edges):
            self.edges = np.concatenate([self.edges, np.zeros(needed + len(self.edges), np.int32)])
        self.edges[at] = len(moves)
        self.edges[at + 1 : needed] = [value for move in moves for value in move]
        self._edges_used = needed
        return at

    def number(self, subset: States) -> int:
        number = self._numbers.get(subset)
        if number is None:
            number = len(self.subsets)
            if number >= self.max_states:
                raise LimitError(
                    f"the pattern has needed more than {self.max_states:,} automaton states",
                    hint="simplify nested strategies, ALL or UNLESS, or raise max_states",
                )
            self._numbers[subset] = number
            self.subsets.append(subset)
            self._make_room(number)
            self.accepting[number] = any(map(self.automaton.accepts, subset))
        return number

    def _make_room(self, number: int) -> None:
        old = self.head.shape[0]
        if number < old:
            return
        taller = np.full((2 * old, self.head.shape[1]), UNKNOWN, np.int32)
        taller[:old] = self.head
        self.head = taller
        self.accepting = np.concatenate([self.accepting, np.zeros(old, np.uint8)])
        self.gap_to = np.concatenate([self.gap_to, np.full(old, UNKNOWN, np.int32)])
