"""Constructions of operators whose sides run at once: AND, ALL, UNLESS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, TypeVar

from cereus.automata.construct import PairAutomaton
from cereus.automata.model import (
    MOST_MOVES,
    NO_SLOTS,
    NOTHING,
    Automaton,
    Letter,
    Move,
    Slots,
    State,
    targets,
    too_many_moves,
    unstamped,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Product(PairAutomaton):
    """`φ AND ψ`: both sides have the same valuation."""

    def initial(self) -> Iterable[State]:
        return _few(product(self.left.initial(), self.right.initial()))

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        first, second = state
        rights = _few(self.right.moves(second, letter))
        for move in self.left.moves(first, letter):
            for other in rights:
                if unstamped(move.label) == unstamped(other.label):
                    label = move.label | other.label
                    yield move.joined(other, label, (move.target, other.target))

    def accepts(self, state: Any) -> bool:
        return self.left.accepts(state[0]) and self.right.accepts(state[1])

    def goes_on(self, state: Any) -> bool:
        return self.left.goes_on(state[0]) and self.right.goes_on(state[1])

    def waits(self, state: Any) -> bool:
        return self.left.waits(state[0]) and self.right.waits(state[1])

    def slots(self, state: Any) -> Slots:
        return self.left.slots(state[0]) | self.right.slots(state[1])


def _few(ways: Iterable[T]) -> list[T]:
    """All of them; an error if there are too many."""
    few = list(islice(ways, MOST_MOVES + 1))
    if len(few) > MOST_MOVES:
        raise too_many_moves(MOST_MOVES)
    return few


WAITING, DONE = "waiting", "done"


@dataclass(frozen=True)
class Interleaving(Automaton):
    """`φ ALL ψ ALL …`: each part runs on an interval of its own, (i₁, j₁), (i₂, j₂) …, with i =
    min(i₁, i₂ …) and j = max(j₁, j₂ …). A part is WAITING before its interval, DONE after it. A
    part that is `optional` may be left out, if not all are.

    Equivalent states are merged, so that ALL of n types has one state for each set of types that
    the stream has brought, and no more. A part that can wait where it begins is never WAITING. A
    part that has ended for good is DONE at once, except the last one to end, which accepts.
    """

    parts: tuple[Automaton, ...]
    optional: tuple[bool, ...]

    def initial(self) -> Iterable[State]:
        begins: list[list[State]] = []
        for part, optional in zip(self.parts, self.optional, strict=True):
            begin = list(part.initial())
            late = [] if all(map(part.waits, begin)) else [WAITING]
            begins.append([*begin, *late, *([DONE] if optional else [])])
        idle = {WAITING, DONE}
        return [state for state in _few(product(*begins)) if not idle.issuperset(state)]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        sides = [list(self._side(part, q, letter)) for part, q in self._pairs(state)]
        for moves in product(*sides):
            target = tuple(move.target for move in moves)
            if any(side != DONE for side in target):
                yield Move(
                    frozenset().union(*(move.label for move in moves)),
                    self._settled(target),
                    tuple(check for move in moves for check in move.checks),
                    tuple(update for move in moves for update in move.updates),
                )

    def _pairs(self, state: Any) -> Iterator[tuple[Automaton, State]]:
        return zip(self.parts, state, strict=True)

    @staticmethod
    def _side(part: Automaton, state: State, letter: Letter) -> Iterator[Move]:
        if state == WAITING:
            yield Move(NOTHING, WAITING)
            yield from (Move(NOTHING, begin) for begin in part.initial())
        elif state == DONE:
            yield Move(NOTHING, DONE)
        else:
            yield from part.moves(state, letter)
            if part.accepts(state):
                yield Move(NOTHING, DONE)

    def _settled(self, target: tuple[State, ...]) -> State:
        """The equivalent state in which all parts that have ended for good are DONE, except one."""
        ended = [self._ended(part, side) for part, side in self._pairs(target)]
        if all(ended):  # not all of them are DONE, and the last to end must still accept
            ended[max(n for n, side in enumerate(target) if side != DONE)] = False
        return tuple(DONE if over else side for over, side in zip(ended, target, strict=True))

    def accepts(self, state: Any) -> bool:
        return all(
            side == DONE or (side != WAITING and part.accepts(side))
            for part, side in self._pairs(state)
        )

    @staticmethod
    def _ended(part: Automaton, state: State) -> bool:
        """Whether a part has ended and can do nothing more."""
        if state in (WAITING, DONE):
            return state == DONE
        return part.accepts(state) and not part.goes_on(state)

    def goes_on(self, state: Any) -> bool:
        return not all(self._ended(part, side) for part, side in self._pairs(state))

    def waits(self, state: Any) -> bool:
        return all(side in (WAITING, DONE) or part.waits(side) for part, side in self._pairs(state))

    def slots(self, state: Any) -> Slots:
        running = ((part, side) for part, side in self._pairs(state) if side not in (WAITING, DONE))
        return NO_SLOTS.union(*(part.slots(side) for part, side in running))


@dataclass(frozen=True)
class UnlessAutomaton(PairAutomaton):
    """`φ UNLESS ψ`: a run of φ dies as soon as ψ has matched on any interval since it began.

    The second part of a state is the set of states that runs of ψ, begun at any position since,
    have reached. Once one accepts, it has matched for good: the run is dropped (the paper's own
    construction forgets a ψ that ended earlier; its Fig. 3 and §8.1 do not)."""

    def initial(self) -> Iterable[State]:
        begin = frozenset(self.right.initial())
        return [(q, begin) for q in self.left.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, watched = state
        reached = targets(self.right, watched, letter)
        if any(self.right.accepts(q) for q in reached):
            return
        ahead = reached | frozenset(self.right.initial())
        for move in self.left.moves(inner, letter):
            yield move._replace(target=(move.target, ahead))

    def accepts(self, state: Any) -> bool:
        return self.left.accepts(state[0])

    def goes_on(self, state: Any) -> bool:
        return self.left.goes_on(state[0])

    def slots(self, state: Any) -> Slots:
        return self.left.slots(state[0])
