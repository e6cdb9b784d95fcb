"""Merges alternatives that the row alone distinguishes into one state.

In `(a | b)+ c` a run goes from the state of `a` to that of `b` and back, as rows come. If no row
can be both, and the same may follow both, there is nothing to choose: the two become one state,
whose rows are those of `a` or of `b`. So a run waits in one loop, and leaps over rows as in any
other. Conditions that count or add up rows of `a` alone read a column that is NULL elsewhere. The
letter of a row tells afterwards in which of the states it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.letters import RowLetters
from cereus.languages.match_recognize.match.matching import RowMatches, Skipping
from cereus.languages.match_recognize.match.needs import parts
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton


@dataclass(frozen=True)
class Alternatives:
    """An automaton some of whose states stand for several of another. `variables` are those of the
    clause, followed by those that stand for several (`joint`); `letters` tell which of them a row
    can be."""

    automaton: RowAutomaton
    variables: tuple[str, ...]
    joint: dict[str, frozenset[str]]
    letters: RowLetters
    skip: Skipping
    _states: npt.NDArray[np.int16]

    def rows_of(self, members: frozenset[str]) -> npt.NDArray[np.bool_]:
        """The rows that can be one of these variables."""
        mask = sum(1 << self.variables.index(name) for name in members)
        allowed = np.array([bool(holds & mask) for holds in self.letters.holds], np.bool_)
        return allowed[self.letters.numbers]

    def restored(self, matches: RowMatches) -> RowMatches:
        """Matches with the states that rows were read in."""
        return replace(matches, restore=self._restored)

    def _restored(
        self, matches: RowMatches, states: npt.NDArray[np.int16]
    ) -> npt.NDArray[np.int16]:
        lengths = matches.ends - matches.starts
        moved = np.repeat(matches.starts - matches.offsets[:-1], lengths)
        rows = moved + np.arange(len(states))
        restored: npt.NDArray[np.int16] = self._states[states, self.letters.numbers[rows]]
        return restored


def alternatives(
    bound: Bound, automaton: RowAutomaton, letters: RowLetters, skip: Skipping
) -> Alternatives | None:
    """The automaton with merged states; None if no states can be merged."""
    variables = bound.clause.variables()
    free = {name for name in variables if all(part.of_row for part in parts(bound, name))}
    present = np.flatnonzero(np.bincount(letters.numbers, minlength=len(letters.holds)))
    together = {letters.holds[letter] for letter in present}
    groups = [
        group
        for group in _alike(automaton, free, skip)
        if _are_apart([variables.index(automaton.labels[q]) for q in group], together)
        and _stand_together(automaton, group)
    ]
    return _joined(automaton, variables, letters, skip, groups) if groups else None


def _alike(automaton: RowAutomaton, free: set[str], skip: Skipping) -> Iterator[list[int]]:
    """Groups of states that the same may follow, in the order of preference."""
    groups: dict[object, list[int]] = {}
    for q, label in enumerate(automaton.labels):
        if label in free and automaton.rounds[q] is None:
            key = (automaton.moves[q], automaton.ends[q], int(skip.targets[q]))
            groups.setdefault(key, []).append(q)
    yield from (group for group in groups.values() if len(group) > 1)


def _are_apart(places: Sequence[int], together: set[int]) -> bool:
    """Whether no row can be two of these variables, which are different ones."""
    mask = sum(1 << place for place in set(places))
    return len(set(places)) == len(places) and all(
        (holds & mask).bit_count() <= 1 for holds in together
    )


def _stand_together(automaton: RowAutomaton, group: list[int]) -> bool:
    """Whether these states always come together among the moves of a state, one after the other."""
    for moves in (*automaton.moves, *automaton.begin):
        places = [at for at, move in enumerate(moves) if move in group]
        if places and (len(places) != len(group) or places[-1] - places[0] >= len(group)):
            return False
    return True


def _joined(
    automaton: RowAutomaton,
    variables: tuple[str, ...],
    letters: RowLetters,
    skip: Skipping,
    groups: list[list[int]],
) -> Alternatives:
    """The automaton with one state for each group: its first."""
    first_of = {q: group[0] for group in groups for q in group}
    kept = [q for q in range(len(automaton)) if first_of.get(q, q) == q]
    numbers = {q: kept.index(first_of.get(q, q)) for q in range(len(automaton))}
    members = {group[0]: frozenset(automaton.labels[q] for q in group) for group in groups}
    names = {q: " | ".join(sorted(of)) for q, of in members.items()}
    joint = {names[q]: of for q, of in members.items()}
    every = (*variables, *joint)

    def renumbered(moves: tuple[int, ...]) -> tuple[int, ...]:
        new = (move if move == DONE else numbers[move] for move in moves)
        return tuple(dict.fromkeys(new))

    smaller = RowAutomaton(
        tuple(names.get(q, automaton.labels[q]) for q in kept),
        tuple(automaton.excluded[q] for q in kept),
        (renumbered(automaton.begin[0]), renumbered(automaton.begin[1])),
        tuple(renumbered(automaton.moves[q]) for q in kept),
        tuple(automaton.ends[q] for q in kept),
        tuple(automaton.rounds[q] for q in kept),
    )
    holds = [_with_joint(each, variables, joint) for each in letters.holds]
    states = np.array([[q] * len(holds) for q in kept], np.int16).reshape(len(kept), len(holds))
    for group in groups:
        for q in group:
            place = variables.index(automaton.labels[q])
            allowed = np.array([each >> place & 1 for each in holds], np.bool_)
            states[numbers[q], allowed] = q
    return Alternatives(
        smaller,
        every,
        joint,
        RowLetters(letters.numbers, holds),
        replace(skip, targets=np.array([skip.targets[q] for q in kept], np.uint8)),
        states,
    )


def _with_joint(holds: int, variables: tuple[str, ...], joint: dict[str, frozenset[str]]) -> int:
    """The variables of a letter, with a bit for each variable that stands for several."""
    for place, of in enumerate(joint.values(), len(variables)):
        if any(holds >> variables.index(name) & 1 for name in of):
            holds |= 1 << place
    return holds
