"""Counts how far partial matches came: each step by the query for the pattern up to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.language.anatomy import Anatomy, Loosened, QueryRule, RuleKind, Step
from cereus.plan.tests import EventTest
from cereus.why.meant import meant
from cereus.why.result import Ended, StepCounts
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.runs import MOST_CENTRES, Centres
from cereus.why.running.tally import Tallies, Tally
from cereus.why.running.tested import Mask

Without = Mapping[Loosened, Tally | None]
ALWAYS = (RuleKind.NEGATION, RuleKind.WINDOW, RuleKind.STRATEGY)
"""Rules that apply again at every step."""
SURELY_READ, LEAST_READ, SHARE_READ = 10_000, 5_000, 32
"""Up to SURELY_READ events, all are read without one of the query's rules; of a longer stream, the
first LEAST_READ, or one in SHARE_READ, if that is more."""
LEAST_BLAMING, WORTH_A_RUN = 3, 75_000
"""The number of runs that find which rule keeps events from being taken at a step; in a long stream
one for every WORTH_A_RUN events, if that is more. Starting a run takes about as long as reading
these."""


def most_read(events: EventTable) -> int:
    """The number of events on which a query without one of its rules is tried."""
    return len(events) if is_whole(events) else max(LEAST_READ, len(events) // SHARE_READ)


def is_whole(events: EventTable) -> bool:
    """Whether a query without one of its rules is tried on all events."""
    return len(events) <= SURELY_READ


def most_blaming(events: EventTable) -> float:
    """How many runs may find which rule keeps events from being taken at a step."""
    return np.inf if is_whole(events) else max(LEAST_BLAMING, len(events) // WORTH_A_RUN)


class TestedStep:
    """A step's type and its conditions, and how many events pass them."""

    __test__ = False  # not a pytest class

    def __init__(self, step: Step, events: EventTable) -> None:
        self.step, self.events, self.tested = step, events, events.tested

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

    def meant(self) -> str | None:
        """The text that was probably meant, where a condition asks for one that no event has."""
        every = dict.fromkeys(each for test in self.step.tests for each in test.conditions)
        unmet = (each for each in every if not self.tested.count(self.tested.satisfying(each)))
        return next(filter(None, (meant(each, self.events.given) for each in unmet)), None)

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
            self.step.optional,
            self.meant(),
        )


@dataclass(frozen=True)
class Blamed:
    """Why events that passed were not taken: by which rule, because there was nothing to continue,
    and for how many this was not examined."""

    ended: tuple[Ended, ...]
    rest: int
    unseen: int = 0


class StepCounter:
    """Counts the steps of a query, one after the other. `known` are the matches of the query, if
    these are few."""

    def __init__(self, anatomy: Anatomy, events: EventTable, known: Tally | None) -> None:
        self.anatomy, self.events, self.tallies = anatomy, events, Tallies(events)
        self.tested = [TestedStep(step, events) for step in anatomy.steps]
        self.most = most_read(events)
        self.known = known
        self.tried: frozenset[QueryRule] | None = None
        """The rules that are left out to see what they exclude; None for all."""
        self.blaming = most_blaming(events)
        """How many more runs may find that."""
        self._centres: dict[tuple[int, bool], Centres] = {}
        self.reached: list[Tally] = []
        for number in range(len(self.tested)):
            self.reached.append(self._tally(number))

    @property
    def dead(self) -> int | None:
        """The first step that nothing reaches."""
        none = (number for number, tally in enumerate(self.reached) if not _is_reached(tally))
        return next(none, None)

    def counts(self, without: Without) -> Iterator[StepCounts]:
        """The counts of every step; `without` are the matches of the query without one of its
        rules. The step that nothing reaches is explained first, while there are runs for it."""
        numbers = range(len(self.tested))
        order = sorted(numbers, key=lambda number: number != self.dead)
        blamed = {number: self._not_taken(number, without) for number in order}
        return (self.tested[n].counted(self.reached[n], blamed[n]) for n in numbers)

    def _not_taken(self, number: int, without: Without) -> Blamed:
        """Why events that pass a step were not taken there."""
        tally = self.reached[number]
        left = self.events.tested.events(self.tested[number].passed) & ~tally.ends
        count = int(np.count_nonzero(left))
        if tally.stopped:
            return Blamed((), 0, count)
        if count and (not number or _is_reached(self.reached[number - 1])):
            return self._blamed(left, number, without)
        return Blamed((), count)

    def _tally(self, number: int) -> Tally:
        step, tested = self.tested[number].step, self.events.tested
        if self.anatomy.chain and not all(map(_is_reached, self.reached)):
            return Tally(0, np.zeros(len(self.events), bool))
        if self.known is not None and (self.is_whole(number) or self._has_none(step)):
            return self.known
        if step.alone:
            ends = tested.events(self.tested[number].passed)
            return Tally(int(np.count_nonzero(ends)), ends)
        centres = rarest(self.anatomy, self.events, number + 1)
        return self.tallies.of(step.query, step, centres=centres)

    def _has_none(self, step: Step) -> bool:
        return step.last and self.known is not None and not self.known.total

    def is_whole(self, number: int) -> bool:
        """Whether the query up to this step is the whole query."""
        step = self.tested[number].step
        last = step.column is None and step.mark is None
        return last and step.query.tree == self.anatomy.query.tree

    def _blamed(self, left: Mask, number: int, without: Without) -> Blamed:
        """Blame each of some events on the first rule without which it would have been taken."""
        ended, until = list[Ended](), len(self.events)
        rules = self._rules_that_end(number)
        tried = [each for each in rules if self.tried is None or each.rule in self.tried]
        places = np.flatnonzero(left)
        for each in tried:
            if not left.any():
                break
            try:
                tally = self._without(each, places, number, without)
            except CereusError:
                continue  # the pattern makes no sense without it, or needs more than limits allow
            if tally is None:
                until = 0
                break
            near = slice(tally.until)
            taken = left[near] & tally.ends[near]
            blamed = int(np.count_nonzero(taken))
            if blamed:
                ended.append(Ended(each.rule.kind, each.rule.text, blamed))
                left[near] ^= taken
            until = min(until, tally.read)
        seen = until if len(tried) == len(rules) else 0
        rest, unseen = np.count_nonzero(left[:seen]), np.count_nonzero(left[seen:])
        return Blamed(tuple(ended), int(rest), int(unseen))

    def _without(self, each: Loosened, places: Rows, number: int, without: Without) -> Tally | None:
        """The matches that end at a step without a rule. Known matches are used if they include all
        that may end at the events at these places, or if no more would be read here. None if
        finding out would take one run too many."""
        if self.is_whole(number):
            known = without.get(each)
        else:
            known = self._none_without(each.rule, number, without)
        if known is not None and (
            known.until is None or each.much.span(self.events.schema) is None
        ):
            return known
        if not self.blaming:
            return None
        self.blaming -= 1
        step, same = self.tested[number].step, asks_the_same(each.rule)
        if (number, same) not in self._centres:
            beside = asked_of_all(self.anatomy, self.events, number + 1) if same else ()
            self._centres[number, same] = Centres(places, beside)
        centres = self._centres[number, same]
        return self.tallies.of(each.much, step, centres=centres, most=self.most)

    def _none_without(self, rule: QueryRule, number: int, without: Without) -> Tally | None:
        """An empty tally if nothing ends at the last step without a rule, since the query then has
        no match."""
        if not self._has_none(self.tested[number].step):
            return None
        known = (tally for each, tally in without.items() if each.rule == rule)
        return next((tally for tally in known if tally is not None and not tally.total), None)

    def _rules_that_end(self, number: int) -> list[Loosened]:
        """The rules that may keep an event that passes all tests from being taken at a step."""
        known = {each.rule for each in self.loosened(number - 1)} if number else set()
        return sorted(
            (each for each in self.loosened(number) if _may_end(each.rule, known)),
            key=lambda each: each.rule.kind is RuleKind.WINDOW,  # last: it explains too much
        )

    def loosened(self, number: int) -> tuple[Loosened, ...]:
        """The query for the pattern up to a step without each of its rules."""
        if self.is_whole(number):
            return self.anatomy.loosened  # whose plans are needed anyway
        return self.tested[number].step.query.anatomy(self.events.schema).loosened


def _is_reached(tally: Tally) -> bool:
    """Whether some event is known to be taken, or it is not known that none is."""
    return tally.stopped or bool(tally.ends.any())


def rarest(
    anatomy: Anatomy,
    events: EventTable,
    count: int | None = None,
    *,
    but: ex.Expression | None = None,
) -> Centres | None:
    """The places of the events that pass the step which the fewest pass, of the first steps or of
    all: every match has one of them. None if these are many, or a match need not have one."""
    choices, tested = asked_of_all(anatomy, events, count, but=but), events.tested
    if not choices:
        return None
    fewest = min(choices, key=tested.count)
    few = tested.count(fewest) <= MOST_CENTRES
    return Centres(tested.places(fewest), choices) if few else None


def asked_of_all(
    anatomy: Anatomy,
    events: EventTable,
    count: int | None = None,
    *,
    but: ex.Expression | None = None,
) -> tuple[Mask, ...]:
    """The kinds of events that pass each of the first steps, or of all, if every match goes through
    all of them. The condition `but` is ignored."""
    if not anatomy.chain or not anatomy.steps:
        return ()
    tested = events.tested
    steps = [step.tests for step in anatomy.steps[:count] if step.tests]
    choices = [tested.any_of(each.without(but) for each in tests) for tests in steps]
    return tuple(map(tested.grown, choices))


def asks_the_same(rule: QueryRule) -> bool:
    """Whether a query without the rule has the same conditions on single events."""
    if rule.kind is not RuleKind.CONDITION:
        return True
    return rule.condition is not None and len(ex.variables(rule.condition)) > 1


def _may_end(rule: QueryRule, known: set[QueryRule]) -> bool:
    """Whether the rule applies again at every step, or is new here and not about one event
    alone."""
    alone = rule.condition is not None and len(ex.variables(rule.condition)) < 2
    return rule.kind in ALWAYS or (rule not in known and not alone)
