"""The automaton model: complex event automata (CEL paper, Def. 5.1), made on demand.

A *letter* is what an event looks like to a pattern: the set of atoms that it satisfies, as a bit
mask. An automaton answers three questions: where do runs begin, where can they go on a letter,
and which states accept. States are made when they are needed, so that constructions whose
full state space is exponential (determinisation, strategies) cost only what a stream visits.

Three invariants that every construction keeps, and that the engine relies on:

* No ε: every move reads one event, and no initial state accepts.
* Letter 0 (an event that satisfies no atom) moves only without a label.
* On letter 0 an accepting state has no move, or one to a state that does not accept, so an
  irrelevant event reports nothing.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from cereus.errors import LimitError

Letter = int
State = Hashable
Label = frozenset[str]

NOTHING: Label = frozenset()
PLACE = "¬"
"""The label of an event that takes its place in a match without being marked (CEQL's NOT)."""
PLACE_ONLY: Label = frozenset({PLACE})
MOST_MOVES = 50_000
"""The most moves on one letter: of a set of states, or of a part. These take some seconds."""
STAMP = "∈"
MOST_STAMPS = 7
"""A stamp in the label of an event that a part marks, with the part's number: so the kernel can
distinguish it from events that other parts mark meanwhile (`memory.chosen`). There are at most this
many numbers."""


class Slot(NamedTuple):
    """A place for one value that a run remembers: side `side` of comparison `number`.

    The slots of equalities sort first, so that runs can be found by their values. A slot that
    `chooses` says where a part of the pattern began of whose runs only the best goes on
    (`memory.chosen`), and how it chooses; `inside` is how many such parts stand inside each other
    in it. A slot that `is_set` has a set of values, as the kernel's number for the set. `easier`
    says which of two values satisfies all that the other one does, and is not NULL: the `smaller`,
    the `greater`, or that neither is known to (""). The runs of a part that has `rivals` need not
    outlive the window: the rivals do (`memory.rivals`). Where other parts mark events meanwhile,
    only those with its `stamp` compete (0: all of them). The value may be a total, which is NULL as
    long as nothing was added up, or a float; a sum of integers may not fit 64 bits.
    """

    by_order: bool
    number: int
    side: int
    chooses: str = ""
    is_set: bool = False
    easier: str = ""
    rivals: bool = False
    stamp: int = 0
    inside: int = 0
    is_total: bool = False
    is_float: bool = False
    may_not_fit: bool = False


class Check(NamedTuple):
    """A condition on a move: the slot's value `op` the value in the event's column. Without a slot,
    the value in `column` is compared with the one in `other`. No condition holds for NULL, except
    `differs`.

    With a `term` (`memory.terms`), `holds` requires that it is true, and `fails` that it is not.
    `absent` and `present` are about events of the past (`memory.terms.Absent`). For a slot that has
    a set, `not in` requires that no member is the value in the column, nor NULL, and `every` that
    the term is true for each member.
    """

    op: str
    slot: Slot | None
    column: int
    other: int = -1
    term: Any = None

    def refutes(self, other: Check) -> bool:
        """Whether the two can never hold for one event."""
        if self.term is not None:
            return self.term == other.term and self.op != other.op
        opposite = {"=": "differs", "differs": "="}.get(self.op)
        return (opposite, self.slot, self.column) == (other.op, other.slot, other.column)


class Update(NamedTuple):
    """A change of a slot by the value in the event's column: `set`, or the `min` or `max` of both.

    Totals leave NULL out: `sum int` (with `carry int`, see `memory.terms`), `min int`, `max int`,
    the same with `float`, `count` (of values that are not NULL) and `tally` (of events). `start`
    takes the event's own measure (its time or position, by which windows are measured) and no
    column, `ordinal` its number among all events, and `scope` the same for a slot that chooses.
    `insert` adds the value to the set of the slot. `compute` takes the float of a `term`
    (`memory.terms`), which reads columns of the event and the slots as they were, and no column.
    """

    slot: Slot
    how: str
    column: int
    term: Any = None


class Move(NamedTuple):
    """A transition: read an event, mark it with the variables of `label` (maybe none), go to
    `target`.

    With slots (`memory`) a move may also check slots and update them.
    """

    label: Label
    target: State
    checks: tuple[Check, ...] = ()
    updates: tuple[Update, ...] = ()

    def joined(self, other: Move, label: Label, target: State) -> Move:
        """One move that makes both, with this label and target."""
        return Move(label, target, self.checks + other.checks, self.updates + other.updates)


def too_many_moves(most: int) -> LimitError:
    return LimitError(
        f"one event can go on in more than {most:,} ways",
        hint="let fewer parts of the pattern take the same events",
    )


def marks(label: Label) -> bool:
    """Whether the event becomes part of the complex event."""
    return bool(label) and label != PLACE_ONLY


def stamped(label: Label, stamp: int) -> Label:
    """The label with the stamp of a part, if the part has one and the event is marked."""
    return label | {f"{STAMP}{stamp}"} if stamp and marks(label) else label


def stamps(label: Label) -> int:
    """The stamps of a label, as bits."""
    return sum(1 << int(name[1:]) - 1 for name in label if name.startswith(STAMP))


def unstamped(label: Label) -> Label:
    return frozenset(name for name in label if not name.startswith(STAMP))


Slots = frozenset[Slot]
NO_SLOTS: Slots = frozenset()


class Automaton(ABC):
    """The interface of every automaton: initial states, moves on a letter, accepting states."""

    @abstractmethod
    def initial(self) -> Iterable[State]: ...

    @abstractmethod
    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        """The transitions from `state` on an event with this letter."""

    @abstractmethod
    def accepts(self, state: State) -> bool: ...

    def goes_on(self, state: State) -> bool:
        """False if no move can leave the state; a cheap, local form of trimming."""
        return True

    def waits(self, state: State) -> bool:
        """Whether a run may stay in the state on every event, marking and checking nothing. False
        if it is not known."""
        return False

    def slots(self, state: State) -> Slots:
        """The slots that are set in a state."""
        return NO_SLOTS

    def closes(self, state: State) -> bool:
        """Whether a run that is still in the state when its window has passed, or the input has
        ended, is complete then. Runs that begin at different times must differ in a slot
        (`start`)."""
        return False

    def only_competes(self, state: State) -> bool:
        """Whether a run only takes part in choices, and is never reported (`memory.rivals`)."""
        return False


States = frozenset[State]


def targets(automaton: Automaton, states: Iterable[State], letter: Letter) -> States:
    """Δ(R, P): the states that any of these can go to."""
    return frozenset(m.target for q in states for m in automaton.moves(q, letter))


class Moving(Protocol):
    """Anything that makes moves: an automaton."""

    def moves(self, state: State, letter: Letter) -> Iterable[Move]: ...


def targets_by_label(
    automaton: Moving, states: Iterable[State], letter: Letter
) -> dict[Label, set[State]]:
    """Δ(R, P, L) for every label L that occurs."""
    targets: dict[Label, set[State]] = {}
    for state in states:
        read = 0
        for move in automaton.moves(state, letter):
            targets.setdefault(move.label, set()).add(move.target)
            read += 1
        _budget.spend(read)
    return targets


class _Budget(threading.local):
    """How many moves of their parts the strategies may still read in this thread; None if nobody
    counts."""

    left: int | None = None

    def spend(self, moves: int) -> None:
        if self.left is not None:
            self.left -= moves
            if self.left < 0:
                raise too_many_moves(MOST_MOVES)


_budget = _Budget()


@contextmanager
def parts_move_at_most(moves: int) -> Iterator[None]:
    """While inside, a LimitError if strategies read more moves of their parts."""
    before, _budget.left = _budget.left, moves
    try:
        yield
    finally:
        _budget.left = before
