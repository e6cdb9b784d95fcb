"""Selection strategies as automata (CEL paper, §7.2), one construction each, freely nested.

A run of NEXT, LAST or MAX carries sets of states of the automaton it selects from:

* `same`    states of runs with the same valuation as this run,
* `equal`   states of runs with the same complex event, whatever their variables,
* `winners` states of runs whose complex event beats this one's,
* `losers`  (LAST only) states of runs that this one beats so far.

The run is reported where `same` accepts and no winner does. A state that a winner has reached
is dropped from the sets below it: the winner will win there too. The paper lets winners branch
off from `same` only; with several variables a run of the same complex event but other variables
may take the event that this one skips, so they must branch off from `equal`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.construct import Staged
from cereus.automata.model import (
    Automaton,
    Letter,
    Move,
    State,
    States,
    marks,
    targets_by_label,
)
from cereus.clauses.tree import Strategy
from cereus.state.classes import state_class


@dataclass(frozen=True)
class StrictAutomaton(Staged):
    """STRICT. It notes the phase: nothing is marked yet (1), marking without a gap (2), marking is
    over (3)."""

    def initial(self) -> Iterable[State]:
        return [(1, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        phase, inner = state
        for move in self.body.moves(inner, letter):
            if not marks(move.label):
                yield move._replace(target=(1 if phase == 1 else 3, move.target))
            elif phase < 3:
                yield move._replace(target=(2, move.target))


NONE: States = frozenset()


@state_class("contest")
class Contest(NamedTuple):
    same: States
    equal: States
    winners: States
    losers: States = NONE


class Fan(NamedTuple):
    """Where a set of states goes on one letter, with and without marking the event."""

    marked: States
    unmarked: States

    @property
    def either(self) -> States:
        return self.marked | self.unmarked


class Remembered:
    """The moves of an automaton on one letter, each computed once."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.known: dict[State, list[Move]] = {}

    def moves(self, state: State, letter: Letter) -> list[Move]:
        if state not in self.known:
            self.known[state] = list(self.automaton.moves(state, letter))
        return self.known[state]


def _fan(body: Remembered, states: States, letter: Letter) -> Fan:
    marked: set[State] = set()
    unmarked: set[State] = set()
    for label, reached in targets_by_label(body, states, letter).items():
        (marked if marks(label) else unmarked).update(reached)
    return Fan(frozenset(marked), frozenset(unmarked))


@dataclass(frozen=True)
class StrategyAutomaton(Automaton):
    """The common part of NEXT, LAST and MAX; they differ in `contest`."""

    body: Automaton

    def initial(self) -> Iterable[State]:
        begin = frozenset(self.body.initial())
        return [Contest(begin, begin, NONE)]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        body = Remembered(self.body)  # cached: the parts share states, and strategies nest
        equal, winners, losers = (_fan(body, part, letter) for part in state[1:])
        for label, reached in targets_by_label(body, state.same, letter).items():
            contest = self.contest if marks(label) else self.contest_skipping
            equal_now, winners_now, losers_now = contest(equal, winners, losers)
            same_now = frozenset(reached) - winners_now
            if same_now:
                equal_now -= winners_now
                losers_now -= equal_now | winners_now
                yield Move(label, Contest(same_now, equal_now, winners_now, losers_now))

    def accepts(self, state: Any) -> bool:
        return any(map(self.body.accepts, state.same)) and not any(
            map(self.body.accepts, state.winners)
        )

    def goes_on(self, state: Any) -> bool:
        return any(map(self.body.goes_on, state.same))

    @abstractmethod
    def contest(self, equal: Fan, winners: Fan, losers: Fan) -> tuple[States, States, States]:
        """(equal, winners, losers) after this run has marked the event."""

    @abstractmethod
    def contest_skipping(
        self, equal: Fan, winners: Fan, losers: Fan
    ) -> tuple[States, States, States]:
        """(equal, winners, losers) after this run has not marked the event."""


@dataclass(frozen=True)
class NextAutomaton(StrategyAutomaton):
    """NXT: at the smallest position where two differ, having it wins. Once ahead, always ahead."""

    def contest(self, equal: Fan, winners: Fan, losers: Fan) -> tuple[States, States, States]:
        return equal.marked, winners.either, NONE

    def contest_skipping(
        self, equal: Fan, winners: Fan, losers: Fan
    ) -> tuple[States, States, States]:
        return equal.unmarked, winners.either | equal.marked, NONE


@dataclass(frozen=True)
class FirstEventsAutomaton(NextAutomaton):
    """NXT among the runs with the same first event. A state is (whether something is marked, the
    contest); runs that began earlier or later do not compete."""

    def initial(self) -> Iterable[State]:
        return [(False, contest) for contest in super().initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        begun, contest = state
        if begun:
            for move in super().moves(contest, letter):
                yield move._replace(target=(True, move.target))
            return
        body = Remembered(self.body)
        equal = _fan(body, contest.equal, letter)
        for label, reached in targets_by_label(body, contest.same, letter).items():
            now = equal.marked if marks(label) else equal.unmarked
            yield Move(label, (marks(label), Contest(frozenset(reached), now, NONE)))

    def accepts(self, state: Any) -> bool:
        return super().accepts(state[1])

    def goes_on(self, state: Any) -> bool:
        return super().goes_on(state[1])


@dataclass(frozen=True)
class LastAutomaton(StrategyAutomaton):
    """LAST: at the largest position where two differ, having it wins. The latest event decides."""

    def contest(self, equal: Fan, winners: Fan, losers: Fan) -> tuple[States, States, States]:
        behind = losers.either | equal.unmarked | winners.unmarked
        return equal.marked, winners.marked, behind

    def contest_skipping(
        self, equal: Fan, winners: Fan, losers: Fan
    ) -> tuple[States, States, States]:
        ahead = winners.either | equal.marked | losers.marked
        return equal.unmarked, ahead, losers.unmarked


@dataclass(frozen=True)
class MaxAutomaton(StrategyAutomaton):
    """MAX: a strict superset wins."""

    def contest(self, equal: Fan, winners: Fan, losers: Fan) -> tuple[States, States, States]:
        return equal.marked, winners.marked, NONE

    def contest_skipping(
        self, equal: Fan, winners: Fan, losers: Fan
    ) -> tuple[States, States, States]:
        return equal.unmarked, winners.either | equal.marked, NONE


def select(strategy: Strategy, automaton: Automaton) -> Automaton:
    """SEL(φ) for every strategy; the same one twice selects what it selects once."""
    match strategy:
        case Strategy.ALL:
            return automaton
        case Strategy.STRICT:
            return _once(StrictAutomaton, automaton)
        case Strategy.NEXT:
            return _once(NextAutomaton, automaton)
        case Strategy.MAX:
            return _once(MaxAutomaton, automaton)
        case Strategy.LAST | Strategy.ANY:  # ANY keeps the LAST one, to be deterministic
            return _once(LastAutomaton, automaton)


def _once(kind: Callable[[Automaton], Automaton], automaton: Automaton) -> Automaton:
    return automaton if type(automaton) is kind else kind(automaton)
