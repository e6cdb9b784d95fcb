"""From formula to automaton, one construction per operator (CEL paper, proof of Theorem 6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from cereus.automata.model import (
    NOTHING,
    PLACE_ONLY,
    Automaton,
    Label,
    Letter,
    Move,
    Slots,
    State,
    marks,
    unstamped,
)
from cereus.clauses.tree import is_kept


@dataclass(frozen=True)
class AtomAutomaton(Automaton):
    """`R`, and `NOT(R)` with the label PLACE_ONLY: wait, then take one event (Fig. 5)."""

    bit: int
    label: Label

    def initial(self) -> Iterable[State]:
        return (0,)

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        if state == 0:
            yield Move(NOTHING, 0)
            if letter >> self.bit & 1:
                yield Move(self.label, 1)

    def accepts(self, state: State) -> bool:
        return state == 1

    def goes_on(self, state: State) -> bool:
        return state == 0

    def waits(self, state: State) -> bool:
        return state == 0


def not_atom(bit: int) -> AtomAutomaton:
    """An event that takes its place unmarked; `bit` says "is not such an event"."""
    return AtomAutomaton(bit, PLACE_ONLY)


@dataclass(frozen=True)
class Wrapped(Automaton):
    """An automaton that changes the moves of another and nothing else."""

    body: Automaton

    def initial(self) -> Iterable[State]:
        return self.body.initial()

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        return self.body.moves(state, letter)

    def accepts(self, state: State) -> bool:
        return self.body.accepts(state)

    def goes_on(self, state: State) -> bool:
        return self.body.goes_on(state)

    def waits(self, state: State) -> bool:
        return self.body.waits(state)

    def slots(self, state: State) -> Slots:
        return self.body.slots(state)


@dataclass(frozen=True)
class Staged(Automaton):
    """An automaton that notes something beside its body: a state is (what it notes, a state of the
    body)."""

    body: Automaton

    def accepts(self, state: Any) -> bool:
        return self.body.accepts(state[1])

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[1])

    def slots(self, state: Any) -> Slots:
        return self.body.slots(state[1])


@dataclass(frozen=True)
class Bind(Wrapped):
    """`φ AS A`: A is added to every marking label."""

    variable: str

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        for move in self.body.moves(state, letter):
            if marks(move.label):
                move = move._replace(label=move.label | {self.variable})
            yield move


@dataclass(frozen=True)
class Restrict(Wrapped):
    """`φ FILTER P(A)`, P unary: an event marked with A must satisfy the atom of P."""

    variable: str
    bit: int

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        allowed = letter >> self.bit & 1
        for move in self.body.moves(state, letter):
            if allowed or self.variable not in move.label:
                yield move


@dataclass(frozen=True)
class Projection(Wrapped):
    """`π_L(φ)`: labels are cut down to L; stamps stay if something of L does."""

    variables: frozenset[str]

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        for move in self.body.moves(state, letter):
            kept = frozenset(v for v in move.label if is_kept(v, self.variables))
            stamps = move.label - unstamped(move.label) if kept else NOTHING
            yield move._replace(label=kept | stamps)


@dataclass(frozen=True)
class PairAutomaton(Automaton):
    """Two automata side by side; states are tagged 0 (left), 1 (right), 2 (at the seam)."""

    left: Automaton
    right: Automaton

    def part(self, tag: int) -> Automaton:
        return self.right if tag else self.left

    def goes_on(self, state: Any) -> bool:
        return self.part(state[0]).goes_on(state[1])

    def slots(self, state: Any) -> Slots:
        return self.part(state[0]).slots(state[1])


@dataclass(frozen=True)
class UnionAutomaton(PairAutomaton):
    """`φ OR ψ`"""

    def initial(self) -> Iterable[State]:
        return [(tag, q) for tag in (0, 1) for q in self.part(tag).initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        tag, inner = state
        for move in self.part(tag).moves(inner, letter):
            yield move._replace(target=(tag, move.target))

    def accepts(self, state: Any) -> bool:
        return self.part(state[0]).accepts(state[1])

    def waits(self, state: Any) -> bool:
        return self.part(state[0]).waits(state[1])


@dataclass(frozen=True)
class ConcatenationAutomaton(PairAutomaton):
    """`φ ; ψ`, and `φ : ψ` when `contiguous`: both sides must take an event at the seam. An
    optional side may be left out if the other is not."""

    contiguous: bool = False
    left_optional: bool = False
    right_optional: bool = False

    def initial(self) -> Iterable[State]:
        lefts: list[State] = [(0, q) for q in self.left.initial()]
        return lefts + [(1, q) for q in self.right.initial()] if self.left_optional else lefts

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        tag, inner = state
        for move in self.part(tag).moves(inner, letter):
            if tag == 2 and not move.label:
                continue
            if tag:
                yield move._replace(target=(1, move.target))
                continue
            accepts = self.left.accepts(move.target)
            if self.left.goes_on(move.target) or (accepts and self.right_optional):
                yield move._replace(target=(0, move.target))
            if accepts and (move.label or not self.contiguous):
                seam = 2 if self.contiguous else 1
                for begin in self.right.initial():
                    yield move._replace(target=(seam, begin))

    def accepts(self, state: Any) -> bool:
        tag, inner = state
        if tag == 0:
            return self.right_optional and self.left.accepts(inner)
        return tag == 1 and self.right.accepts(inner)

    def waits(self, state: Any) -> bool:
        return state[0] != 2 and self.part(state[0]).waits(state[1])


FEW = 12
"""Up to this many parts are nested as they are written."""


def union(parts: Sequence[Automaton]) -> Automaton:
    """`φ₁ OR φ₂ OR …`; many are nested evenly, so that a step is quick."""
    if len(parts) <= FEW:
        return reduce(UnionAutomaton, parts)
    middle = len(parts) // 2
    return UnionAutomaton(union(parts[:middle]), union(parts[middle:]))


def concatenation(parts: Sequence[tuple[Automaton, bool]], contiguous: bool) -> Automaton:
    """`φ₁ ; φ₂ ; …`, or with `:`. Each part comes with whether it may be empty. Both operators are
    associative, and nested as in `union`."""
    return _concatenated(parts, contiguous)[0]


def _concatenated(
    parts: Sequence[tuple[Automaton, bool]], contiguous: bool
) -> tuple[Automaton, bool]:
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) - 1 if len(parts) <= FEW else len(parts) // 2
    left, left_empty = _concatenated(parts[:middle], contiguous)
    right, right_empty = _concatenated(parts[middle:], contiguous)
    both = ConcatenationAutomaton(left, right, contiguous, left_empty, right_empty)
    return both, left_empty and right_empty


@dataclass(frozen=True)
class Seamed(Staged):
    """A state is (whether a run is at a seam, where it cannot accept; a state of the body)."""

    def accepts(self, state: Any) -> bool:
        return not state[0] and self.body.accepts(state[1])

    def waits(self, state: Any) -> bool:
        return not state[0] and self.body.waits(state[1])


@dataclass(frozen=True)
class RepetitionAutomaton(Seamed):
    """`φ+`, and `φ⊕` when `contiguous` (which is φ OR (φ : φ⊕); Fig. 3 misprints it)."""

    contiguous: bool = False

    def initial(self) -> Iterable[State]:
        return [(0, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        at_seam, inner = state
        for move in self.body.moves(inner, letter):
            if at_seam and not move.label:
                continue
            yield move._replace(target=(0, move.target))
            if self.body.accepts(move.target) and (move.label or not self.contiguous):
                for begin in self.body.initial():
                    yield move._replace(target=(int(self.contiguous), begin))


@dataclass(frozen=True)
class CountedAutomaton(Automaton):
    """`φ{2,5}`, and `φ:{2,5}` when `contiguous`. A state is (the number of the round, whether a run
    is at a seam, a state of the body). Without an upper bound, all rounds beyond the lower one are
    the same."""

    body: Automaton
    least: int
    most: int | None
    contiguous: bool = False

    def initial(self) -> Iterable[State]:
        return [(1, 0, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        number, at_seam, inner = state
        for move in self.body.moves(inner, letter):
            if at_seam and not move.label:
                continue
            accepts = self.body.accepts(move.target)
            if self.body.goes_on(move.target) or (accepts and number >= self.least):
                yield move._replace(target=(number, 0, move.target))
            if accepts and number != self.most and (move.label or not self.contiguous):
                after = number + 1 if self.most is not None else min(number + 1, self.least)
                for begin in self.body.initial():
                    yield move._replace(target=(after, int(self.contiguous), begin))

    def accepts(self, state: Any) -> bool:
        number, at_seam, inner = state
        return not at_seam and number >= self.least and self.body.accepts(inner)

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[2])

    def waits(self, state: Any) -> bool:
        return not state[1] and self.body.waits(state[2])

    def slots(self, state: Any) -> Slots:
        return self.body.slots(state[2])


@dataclass(frozen=True)
class Anchored(Seamed):
    """`START(φ)`: the first event read is taken."""

    def initial(self) -> Iterable[State]:
        return [(True, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        first, inner = state
        for move in self.body.moves(inner, letter):
            if move.label or not first:
                yield move._replace(target=(False, move.target))
