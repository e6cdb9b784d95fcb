"""How far partial matches came: each step counted with the query for the pattern up to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.language.anatomy import Anatomy, Loosened, QueryRule, RuleKind, Step
from cereus.plan.tests import EventTest
from cereus.why.events import EventTable, Rows
from cereus.why.result import Ended, StepCounts
from cereus.why.runs import MOST_CENTRES
from cereus.why.tally import Tallies, Tally
from cereus.why.tested import Mask

ALWAYS = (RuleKind.NEGATION, RuleKind.WINDOW, RuleKind.STRATEGY)
"""Rules that work anew at every step."""
SURELY_READ, SHARE_READ = 20_000, 16
"""Of a longer stream, one part of so many is read without one of the query's rules."""


def most_read(events: EventTable) -> int:
    """How many events of the stream a query without one of its rules is tried on."""
    return max(SURELY_READ, len(events) // SHARE_READ)


def is_whole(events: EventTable) -> bool:
    """A query without one of its rules is tried on all events."""
    return len(events) <= SURELY_READ


class TestedStep:
    """A step's type and its conditions, and how many events pass them."""

    __test__ = False  # not a pytest class

    def __init__(self, step: Step, events: EventTable) -> None:
        self.step, self.tested = step, events.tested
        self.tested.know(step.tests)

    @property
    def typed(self) -> Mask:
        """The kinds of events that have its type."""
        return self.tested.any_of(EventTest(test.type, test.stream) for test in self.step.tests)

    @property
    def passed(self) -> Mask:
        """The kinds of events that pass all of its conditions."""
        return self.tested.any_of(self.step.tests)

    def conditions(self) -> Iterator[tuple[str, int]]:
        """How many events of its type pass each condition."""
        chosen: dict[str, Mask] = {}
        for test in self.step.tests:
            typed = self.tested.passing(EventTest(test.type, test.stream))
            for condition in test.conditions:
                text, one = condition_text(condition), self.tested.satisfying(condition) & typed
                chosen[text] = chosen[text] | one if text in chosen else one
        return ((text, self.tested.count(each)) for text, each in chosen.items())

    def counted(self, tally: Tally, blamed: Blamed) -> StepCounts:
        known, count = bool(self.step.tests), self.tested.count
        return StepCounts(
            self.step.name,
            count(self.typed) if known else None,
            tuple(self.conditions()),
            count(self.passed) if known else None,
            int(np.count_nonzero(tally.ends)),
            tally.total,
            tally.exact,
            blamed.ended,
            blamed.rest,
            blamed.unseen,
            any(test.type or test.stream for test in self.step.tests),
        )


@dataclass(frozen=True)
class Blamed:
    """Why events that passed were not taken: by which rule, for want of anything to continue, and
    of how many it was not asked."""

    ended: tuple[Ended, ...]
    rest: int
    unseen: int = 0


class StepCounter:
    """Counts the steps of a query, one after the other."""

    def __init__(self, anatomy: Anatomy, events: EventTable, tallies: Tallies) -> None:
        self.anatomy, self.events, self.tallies = anatomy, events, tallies
        self.tested = [TestedStep(step, events) for step in anatomy.steps]
        self.most = most_read(events)
        self.known: Tally | None = None
        """The matches of the query, where they are known."""
        self._loosened: dict[int, tuple[Loosened, ...]] = {}

    def counts(self) -> Iterator[StepCounts]:
        reached = True
        for number, tested in enumerate(self.tested):
            tally = self._tally(number, reached=reached)
            left = self.events.tested.events(tested.passed) & ~tally.ends
            blamed = Blamed((), int(np.count_nonzero(left)))
            if reached and blamed.rest:
                blamed = self._blamed(left, number)
            yield tested.counted(tally, blamed)
            reached = bool(tally.ends.any())

    def _tally(self, number: int, *, reached: bool) -> Tally:
        step, tested = self.tested[number].step, self.events.tested
        if self.anatomy.chain and not reached:
            return Tally(0, np.zeros(len(self.events), bool))
        if self.known is not None and self._is_whole(step):
            return self.known
        if step.alone:
            ends = tested.events(self.tested[number].passed)
            return Tally(int(np.count_nonzero(ends)), ends)
        centres = rarest(self.anatomy, self.events, number + 1)
        return self.tallies.of(step.query, step, centres=centres)

    def _is_whole(self, step: Step) -> bool:
        """The query up to this step is all of the query."""
        last = step.column is None and step.mark is None
        return last and step.query.tree == self.anatomy.query.tree

    def _blamed(self, left: Mask, number: int) -> Blamed:
        """Each of some events is blamed on the first rule without which it would have been
        taken."""
        ended, cut = list[Ended](), False
        for each in self._rules_that_end(number):
            if not left.any():
                break
            try:
                step = self.tested[number].step
                tally = self.tallies.of(
                    each.much, step, centres=np.flatnonzero(left), most=self.most
                )
            except CereusError:
                continue  # the pattern makes no sense without it, or needs more than limits allow
            blamed = int(np.count_nonzero(left & tally.ends))
            if blamed:
                ended.append(Ended(each.rule.kind, each.rule.text, blamed))
            left, cut = left & ~tally.ends, cut or tally.cut
        unseen = int(np.count_nonzero(left[self.most :])) if cut else 0
        return Blamed(tuple(ended), int(np.count_nonzero(left)) - unseen, unseen)

    def _rules_that_end(self, number: int) -> list[Loosened]:
        """The rules that may keep an event that passes all tests from being taken at a step."""
        known = {each.rule for each in self.loosened(number - 1)} if number else set()
        return sorted(
            (each for each in self.loosened(number) if _may_end(each.rule, known)),
            key=lambda each: each.rule.kind is RuleKind.WINDOW,  # last: it explains too much
        )

    def loosened(self, number: int) -> tuple[Loosened, ...]:
        """The query for the pattern up to a step without each of its rules."""
        step = self.tested[number].step
        if self._is_whole(step):
            return self.anatomy.loosened  # whose plans are needed anyway
        if number not in self._loosened:
            self._loosened[number] = step.query.anatomy(self.events.table.schema).loosened
        return self._loosened[number]


def rarest(anatomy: Anatomy, events: EventTable, count: int | None = None) -> Rows | None:
    """Where the events stand that pass the step which the fewest pass, of the first steps or of
    all: every match has one of them. None where these are many, or need not be there."""
    if not anatomy.chain or not anatomy.steps:
        return None
    tested = events.tested
    tested.know(test for step in anatomy.steps for test in step.tests)
    choices = [tested.any_of(step.tests) for step in anatomy.steps[:count]]
    fewest = min(choices, key=tested.count)
    return tested.places(fewest) if tested.count(fewest) <= MOST_CENTRES else None


def _may_end(rule: QueryRule, known: set[QueryRule]) -> bool:
    """It works anew at every step, or it is new here and not about one event alone."""
    alone = rule.condition is not None and len(ex.variables(rule.condition)) < 2
    return rule.kind in ALWAYS or (rule not in known and not alone)
