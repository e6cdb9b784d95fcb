"""WITH TIMEOUTS: finds how far the runs of an NFA^b came that begin with the first event of a
window.

The last row of a window stands for any event that could still have come. A run that is in the
wanted state there accepts; moves are those of the NFA, so a run has taken every event that it had
to take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.model import Automaton, Letter, Move, Slots, State
from cereus.languages.sase.nfa.nfa import ACCEPT, ACCEPTED, Nfa, NfaRun
from cereus.plan.timeouts import EVERY


@dataclass(frozen=True)
class BegunNfa(Automaton):
    """The NFA for time-outs. `steps`: the run has events of exactly this many components; None: of
    all. `hoped_for`: the test of the last row of a window."""

    nfa: Nfa
    steps: int | None
    hoped_for: int

    def initial(self) -> Iterable[State]:
        return self.nfa.initial()

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        run: NfaRun = state
        if run.stage == ACCEPTED:
            return
        if letter >> self.hoped_for & 1:
            if run.stage and self._is_there(run):
                yield Move(frozenset({EVERY}), ACCEPT)
            return
        for move in self.nfa.moves(run, letter) if run.stage else self.nfa.begins(run, letter):
            if self.steps is None and self._is_complete(move.target):
                yield move._replace(target=ACCEPT)
            elif not self._accepted(move.target):
                yield move

    def _is_there(self, run: NfaRun) -> bool:
        if self.steps is None:
            return self.nfa.has_all(run)
        last = self.steps == self.nfa.stages[-1].component + 1
        return self.nfa.reached(run) == self.steps and (not last or self.nfa.waits_for_last(run))

    def _is_complete(self, run: Any) -> bool:
        at_the_end = bool(run.stage == len(self.nfa.stages)) and self.nfa.has_all(run)
        return self.nfa.accepts(run) or at_the_end

    @staticmethod
    def _accepted(run: Any) -> bool:
        return bool(run.stage == ACCEPTED)

    def accepts(self, state: Any) -> bool:
        return self._accepted(state)

    def goes_on(self, state: Any) -> bool:
        return not self._accepted(state)

    def slots(self, state: Any) -> Slots:
        return self.nfa.slots(state)
