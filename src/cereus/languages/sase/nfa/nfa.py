"""The NFA^b of a query as an automaton (§3.2, A.2), without ε.

A proceed move reads no event, so here it is combined with the begin or ignore move that follows it
on the same event. Its condition is that of §3.2: the condition on the last event if there is one;
else that the event can begin the next component, or that the Kleene plus cannot go on.

A run that ends with a Kleene plus without such a condition, or waits for a negated component not to
come, is complete when its window has passed (`closes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.memory.terms import fails, holds
from cereus.automata.model import (
    NO_SLOTS,
    NOTHING,
    Automaton,
    Check,
    Letter,
    Move,
    Slot,
    Slots,
    State,
    Update,
)
from cereus.languages.sase.nfa.memory import NfaMemory, Remembered
from cereus.languages.sase.nfa.negation import NegatedComponent, Region
from cereus.languages.sase.nfa.stages import Literals, NfaStage, skips, stuck
from cereus.languages.sase.tree import Strategy
from cereus.state.classes import state_class

START = Slot(True, 0, 0)
"""The start of a run: a run that is complete when its window has passed needs it."""
ACCEPTED = -1


@state_class("sase.run")
class NfaRun(NamedTuple):
    """A state (the number of a stage; after the last one, the end of the pattern), the memory, and
    the region of each negated component. `done`: the run has just become a match, and may become
    another."""

    stage: int
    remembered: Remembered
    regions: tuple[Region, ...] = ()
    done: bool = False


ACCEPT = NfaRun(ACCEPTED, ())


@dataclass(frozen=True)
class Nfa(Automaton):
    stages: tuple[NfaStage, ...]
    negations: tuple[NegatedComponent, ...]
    memory: NfaMemory

    # ------------------------------------------------------------ the automaton

    def initial(self) -> Iterable[State]:
        return [NfaRun(0, self.memory.empty, tuple(n.nothing for n in self.negations))]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        run: NfaRun = state
        if run.stage == ACCEPTED:
            return
        if run.stage == len(self.stages):
            yield from self._waits(run, run.stage, letter, ())
            return
        stage = self.stages[run.stage]
        if stage.more:
            yield from self._more(run, stage, letter)
            return
        yield from self._selects(run, run.stage, letter, ())
        # a run may begin with every event
        for skip in skips(stage) if run.stage else [()]:
            yield from self._waits(run, run.stage, letter, skip)

    def accepts(self, state: Any) -> bool:
        return state.stage == ACCEPTED or bool(state.done)

    def goes_on(self, state: Any) -> bool:
        return bool(state.stage != ACCEPTED)

    def closes(self, state: Any) -> bool:
        if state.stage == ACCEPTED:
            return False
        if state.stage < len(self.stages):
            stage = self.stages[state.stage]
            if not stage.more or stage.last is not None or not self._is_final(stage):
                return False
        return self._complete(state, trailing=True)

    def slots(self, state: Any) -> Slots:
        if state.stage in (0, ACCEPTED):
            return NO_SLOTS
        slots = self.memory.slots(state.stage)
        return slots | {START} if self.waits_for_time else slots

    @cached_property
    def waits_for_time(self) -> bool:
        """Whether some runs are complete only when their window has passed."""
        last = self.stages[-1]
        return bool(self._open_at(len(self.stages))) or (last.more and last.last is None)

    def begins(self, run: NfaRun, letter: Letter) -> Iterator[Move]:
        """The moves of a run that has to begin with this event."""
        return self._selects(run, 0, letter, ())

    def reached(self, run: NfaRun) -> int:
        """The number of components that a run has events of."""
        if run.stage == len(self.stages):
            return self.stages[-1].component + 1
        stage = self.stages[run.stage]
        return stage.component + stage.more

    def waits_for_last(self, run: NfaRun) -> bool:
        """Whether the pattern ends with a Kleene plus whose condition on the last event, if it has
        one, does not hold yet."""
        more = run.stage < len(self.stages) and self.stages[run.stage].more
        return more and self.stages[run.stage].last is not None

    def has_all(self, run: NfaRun) -> bool:
        """Whether a run has events of all components, whatever must not follow."""
        return (
            run.stage != ACCEPTED
            and self.reached(run) == self.stages[-1].component + 1
            and not self.waits_for_last(run)
            and self._complete(run)
        )

    # ------------------------------------------------------------ edges of a Kleene plus

    def _more(self, run: NfaRun, stage: NfaStage, letter: Letter) -> Iterator[Move]:
        """Take, ignore, and proceed from a select-more state."""
        following = None if self._is_final(stage) else self.stages[run.stage + 1]
        goes_on: Literals = ()
        if stage.stops and stage.last is not None:
            goes_on = ((False, stage.last),)
        elif stage.stops and following is not None:
            goes_on = ((False, following.select),)
        yield from self._selects(run, run.stage, letter, goes_on)
        for skip in skips(stage):
            yield from self._waits(run, run.stage, letter, (*goes_on, *skip))
        if following is not None:
            yield from self._proceeds(run, stage, following, letter)
        elif stage.last is None:
            for literals in stuck(stage):
                yield from self._ends(run, letter, literals)

    def _proceeds(
        self, run: NfaRun, stage: NfaStage, following: NfaStage, letter: Letter
    ) -> Iterator[Move]:
        ended: Literals = () if stage.last is None else ((True, stage.last),)
        yield from self._selects(run, run.stage + 1, letter, ended)
        if stage.strategy is Strategy.ANY and not stage.stops:
            return  # a run that can ignore everything may as well proceed later
        ways = [ended]
        if stage.last is None:
            begins = following.select
            ways = [((True, begins),), *(((False, begins), *each) for each in stuck(stage))]
        for way in ways:
            for skip in skips(following):
                yield from self._waits(run, run.stage + 1, letter, (*way, *skip))

    # ------------------------------------------------------------ moves

    def _selects(
        self, run: NfaRun, number: int, letter: Letter, literals: Literals
    ) -> Iterator[Move]:
        """The moves where the event is selected in a state."""
        stage = self.stages[number]
        checks = self._checks(run, letter, (*literals, (True, stage.select)))
        if checks is None:
            return
        regions = self._regions_after(run, stage, letter)
        if regions is None:
            return
        checks += tuple(check for each in self.negations for check in each.checked_at(number))
        remembered, updates = self.memory.taken(stage, run.remembered, letter)
        if number == 0 and self.waits_for_time:
            updates = (Update(START, "start", -1), *updates)
        move = Move(stage.label, ACCEPT, checks, updates)
        selected = NfaRun(number + (not stage.more), remembered, regions)
        if not self._is_final(stage) or (stage.kleene and stage.last_now is None):
            yield self._to(move, selected)
        elif not stage.kleene:
            yield from self._completes(move, selected)
        else:
            yield from self._selects_last(move, run, stage, selected, letter)

    def _selects_last(
        self, move: Move, run: NfaRun, stage: NfaStage, selected: NfaRun, letter: Letter
    ) -> Iterator[Move]:
        """The moves where the event may be the last of the pattern, if the condition on last events
        holds."""
        assert stage.last_now is not None
        last = self._checks(run, letter, ((True, stage.last_now),))
        other = self._checks(run, letter, ((False, stage.last_now),))
        if other is not None:
            yield self._to(move._replace(checks=move.checks + other), selected)
        if last is None:
            return
        move = move._replace(checks=move.checks + last)
        if stage.stops:
            yield from self._completes(move, selected)
        elif self._open_at(len(self.stages)):
            yield self._to(move, selected)
            yield from self._completes(move, selected)
        else:
            yield self._to(move, selected._replace(done=self._complete(selected)))

    def _waits(
        self, run: NfaRun, number: int, letter: Letter, literals: Literals
    ) -> Iterator[Move]:
        """The moves where the event is ignored, to a state."""
        checks = self._checks(run, letter, literals)
        if checks is None:
            return
        several = number < len(self.stages) and self.stages[number].more
        for needed, regions in self._passed(run, number, letter, forbidding=several):
            more = self._checks(run, letter, needed)
            if more is not None:
                move = Move(NOTHING, ACCEPT, checks + more)
                yield self._to(move, NfaRun(number, run.remembered, regions))

    def _ends(self, run: NfaRun, letter: Letter, literals: Literals) -> Iterator[Move]:
        """The moves where a Kleene plus that ends the pattern cannot go on."""
        if self._open_at(len(self.stages)):
            yield from self._waits(run, len(self.stages), letter, literals)
            return
        checks = self._checks(run, letter, literals)
        if checks is not None and self._complete(run):
            yield Move(NOTHING, ACCEPT, checks)

    def _completes(self, move: Move, run: NfaRun) -> Iterator[Move]:
        """The moves where all components have their events."""
        if self._open_at(len(self.stages)):
            yield self._to(move, run._replace(stage=len(self.stages)))
        elif self._complete(run):
            yield move

    def _to(self, move: Move, run: NfaRun) -> Move:
        """The move to a run that remembers only what it needs."""
        remembered = self.memory.alive(run.remembered, run.stage)
        return move._replace(target=run._replace(remembered=remembered))

    def _checks(self, run: NfaRun, letter: Letter, literals: Literals) -> tuple[Check, ...] | None:
        """The checks that remain for a move; None if it cannot be made."""
        checks: dict[Check, None] = {}
        answers: dict[Any, bool] = {}
        for wanted, question in literals:
            answer = self.memory.decide(question, run.remembered, letter)
            if isinstance(answer, bool):
                if answer is not wanted:
                    return None
            elif answers.setdefault(answer, wanted) is not wanted:
                return None
            else:
                checks[holds(answer) if wanted else fails(answer)] = None
        return tuple(checks)

    # ------------------------------------------------------------ negated components

    def _is_final(self, stage: NfaStage) -> bool:
        return stage.component == self.stages[-1].component

    def _open_at(self, number: int) -> tuple[int, ...]:
        """The negated components that read the events which are ignored in a state."""
        return self._open[number]

    @cached_property
    def _open(self) -> tuple[tuple[int, ...], ...]:
        places = [s.component + s.more for s in self.stages]
        places.append(self.stages[-1].component + 1)
        return tuple(
            tuple(n for n, each in enumerate(self.negations) if each.after == place)
            for place in places
        )

    def _passed(
        self, run: NfaRun, number: int, letter: Letter, *, forbidding: bool
    ) -> Iterator[tuple[Literals, tuple[Region, ...]]]:
        """The outcomes of an ignored event for the negated components: their conditions, and the
        regions after them. Without `forbidding`, outcomes with a forbidden event are left out at
        once: with many components there would be too many outcomes."""
        regions = tuple(n.older(r) for n, r in zip(self.negations, run.regions, strict=True))
        ways: list[tuple[Literals, tuple[Region, ...]]] = [((), regions)]
        for place in self._open_at(number):
            ways = [
                ((*needed, *more), (*known[:place], region, *known[place + 1 :]))
                for needed, known in ways
                for more, region in self.negations[place].passed(
                    known[place], run.remembered, letter, self.memory
                )
                if forbidding or region is not True
            ]
        return iter(ways)

    def _regions_after(
        self, run: NfaRun, stage: NfaStage, letter: Letter
    ) -> tuple[Region, ...] | None:
        """The regions of the negated components after an event is selected; None if one of them has
        a forbidden event."""
        made: list[Region] = []
        for each, region in zip(self.negations, run.regions, strict=True):
            if each.leads:
                region = each.inside(each.older(region), letter)
            elif each.after == stage.component and not stage.more:
                if not each.at_the_end and each.violated(region, run.remembered, self.memory):
                    return None
                region = region if each.at_the_end else each.nothing
            elif each.after == stage.component + 1:
                region = each.nothing
            made.append(region)
        return tuple(made)

    def _complete(self, run: NfaRun, *, trailing: bool = False) -> bool:
        """Whether no negated component that is decided last has seen a forbidden event."""
        end = len(self.stages)
        decided = [n for n, each in enumerate(self.negations) if each.at_the_end]
        decided += [n for n in self._open_at(end) if trailing]
        return not any(
            self.negations[n].violated(run.regions[n], run.remembered, self.memory) for n in decided
        )
