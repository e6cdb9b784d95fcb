"""The subset construction (I/O-determinisation, CEL paper, Prop. 5.5), one set of states at a time.

Moves that look alike, check the same and update the same become one move, to the set of states that
they lead to. All states of a set have the same slots set, so that a run in it has one layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar

from cereus.automata.model import (
    MOST_MOVES,
    NO_SLOTS,
    Automaton,
    Check,
    Label,
    Letter,
    Move,
    Slot,
    Slots,
    State,
    States,
    Update,
    too_many_moves,
)

Checks = tuple[Check, ...]
MOST_MOVES_EXPLORED = 30_000
"""The same limit as `MOST_MOVES` where a set of states is only explored."""
ORDERS = ("<", "<=", ">", ">=")
"""Checks that only runs on one side of a value can satisfy."""
MOST_LETTERS, MOST_PAIRS = 64, 64
"""With more letters, or pairs of states, it is not checked whether two runs may end alike."""
Place = TypeVar("Place")
"""A state of the automaton that the kernel runs: a set of states, or its number."""
Shown = TypeVar("Shown")
"""The visible part of a label: names of variables, or the kernel's number for them."""


class JointMove(NamedTuple, Generic[Shown]):
    """The moves that do the same thing, as one, with the states that they lead to."""

    label: Shown
    checks: Checks
    updates: tuple[Update, ...]
    states: States

    def excludes(self, other: JointMove[Shown]) -> bool:
        """Whether the two moves can never mark one event in the same way."""
        return self.label != other.label or exclusive(self.checks, other.checks)


def joint_moves(
    automaton: Automaton,
    states: Iterable[State],
    letter: Letter,
    seen: Callable[[Label], Shown],
    most: int = MOST_MOVES,
) -> list[JointMove[Shown]]:
    """Δ(R, P, L) for every L: where a set of states goes on a letter, by what is visible and done.
    Runs that are about to compete, and runs that have competed, are kept apart from all others."""
    together: dict[tuple[Shown, Any, Any, Slots, bool | None], set[State]] = {}
    left = most
    for state in states:
        for label, target, checks, updates in automaton.moves(state, letter):
            left -= 1
            if left < 0:
                raise too_many_moves(most)
            slots = automaton.slots(target)
            apart = label and not slots and automaton.only_competes(target)
            begins = automaton.goes_on(target) if apart else None
            doing = (seen(label), checks, updates, slots, begins)
            together.setdefault(doing, set()).add(target)
    return [
        JointMove(shown, checks, updates, frozenset(targets))
        for (shown, checks, updates, *_), targets in together.items()
    ]


def exclusive(checks: Checks, others: Checks) -> bool:
    """Whether the checks of two moves can never hold for one event."""
    return any(check.refutes(other) for check in checks for other in others)


def index_columns(slot: Slot, moves: Iterable[Checks]) -> frozenset[int]:
    """The columns that the slot must equal in all these moves; each can index the runs."""
    equal_columns = [
        {each.column for each in m if each.op == "=" and each.slot == slot} for m in moves
    ]
    return frozenset(set.intersection(*equal_columns) if equal_columns else ())


def index_orders(moves: Iterable[Checks]) -> frozenset[tuple[str, Slot, int]]:
    """The orders of a slot and a column that all these moves require; each can index the runs."""
    orders = [
        {
            (each.op, each.slot, each.column)
            for each in m
            if each.op in ORDERS and each.slot is not None
        }
        for m in moves
    ]
    return frozenset(set.intersection(*orders) if orders else ())


def slots_of(automaton: Automaton, states: States) -> Slots:
    """The slots that are set in every state of a set."""
    return automaton.slots(next(iter(states))) if states else NO_SLOTS


def runs_in(states: Any) -> int:
    """How many runs and values a set of states follows: whatever its states carry in sets counts as
    well."""
    if isinstance(states, frozenset):
        return sum(max(1, runs_in(state)) for state in states)
    return sum(map(runs_in, states)) if isinstance(states, tuple) else 0


@dataclass(frozen=True)
class Determinised(Automaton):
    """The automaton whose states are the sets of states that runs can be in; `seen` gives its
    labels."""

    body: Automaton
    seen: Callable[[Label], Label] = frozenset

    def initial(self) -> Iterable[State]:
        return (frozenset(self.body.initial()),)

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        most = MOST_MOVES_EXPLORED
        moves = joint_moves(self.body, state, letter, self.seen, most)
        for label, checks, updates, states in moves:
            yield Move(label, states, checks, updates)

    def accepts(self, state: Any) -> bool:
        return any(map(self.body.accepts, state))

    def closes(self, state: Any) -> bool:
        return any(map(self.body.closes, state))

    def goes_on(self, state: Any) -> bool:
        return any(map(self.body.goes_on, state))

    def slots(self, state: Any) -> Slots:
        return slots_of(self.body, state)


def may_end_alike(
    one: Place,
    other: Place,
    letters: Sequence[Letter] | None,
    moves: Callable[[Place, Letter], Iterable[tuple[object, Place]]],
    is_reported: Callable[[Place], bool],
) -> bool:
    """Whether two runs that have marked the same events may go on to mark the same ones until both
    are reported at one event: then one match is found twice. `moves` gives labels and targets,
    `letters` are all that may come (None: not known). True if it takes too long to find out."""
    if letters is None or len(letters) > MOST_LETTERS:
        return True
    pairs, todo = {(one, other)}, [(one, other)]
    while todo and len(pairs) <= MOST_PAIRS:
        first, second = todo.pop()
        if first == second or (is_reported(first) and is_reported(second)):
            return True
        for letter in letters:
            for (label, to), (same, also) in product(moves(first, letter), moves(second, letter)):
                if label == same and (to, also) not in pairs:
                    pairs.add((to, also))
                    todo.append((to, also))
    return bool(todo)
