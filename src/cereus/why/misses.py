"""Finds the nearest misses: the matches when one rule of the query is loosened, and by how much
they miss that rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from cereus.engine.interrupts import sharing
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.check import coerce
from cereus.language.anatomy import WIDER, Anatomy, Loosened, QueryRule, RuleKind
from cereus.language.compiled import CompiledQuery
from cereus.plan.tests import EventTest
from cereus.why.measure import Measure, measure
from cereus.why.result import Miss, RuleEffect
from cereus.why.running.events import EventTable
from cereus.why.running.runs import Centres, FoundMatch, Run, matched
from cereus.why.running.taken import at_others, led_to, with_taken
from cereus.why.running.tally import SHARES, Tally
from cereus.why.steps import asks_the_same, is_whole, most_read, rarest

MOST_LOOKED_AT = 100
"""The most matches of a loosened query among which the nearest misses are chosen."""
Known = frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Effect:
    """What loosening one rule brings: matches, and by how much they miss it.

    tally  all matches of the query that is loosened much, where so many could be looked at
    until  the place before which all that can matter was read; None for the end of the stream
    more   there are others that were not looked at
    """

    rule: RuleEffect
    matches: Sequence[FoundMatch] = ()
    by: Measure | None = None
    tally: Tally | None = None
    until: int | None = None
    more: bool = False

    def nearest(self) -> Iterator[tuple[float, tuple[int, ...], int]]:
        """The distance of each, its rows, and its number. Among those with the same distance, or no
        measure, the one with the fewest events comes first."""
        amounts = np.full(len(self.matches), np.inf) if self.by is None else self.by.distances()
        lying = zip(amounts.tolist(), (each.rows for each in self.matches), strict=True)
        every = [(far, rows, n) for n, (far, rows) in enumerate(lying)]
        return iter(sorted(every, key=lambda miss: (miss[0], len(miss[1]), miss)))

    def miss(self, number: int) -> Miss:
        by, match = None if self.by is None else self.by.at(number), self.matches[number]
        if by is None:
            return Miss(match.rows, self.rule.kind, self.rule.text)
        text = by.text + at_others(match)
        return Miss(match.rows, self.rule.kind, self.rule.text, text, by.amount, led_to(match))


@dataclass(frozen=True)
class Effects:
    """Looks for what loosening a rule brings.

    known    the matches of the query
    centres  where events stand one of which every match of the query has, if these are few
    conditions  those that the query asks of single events
    """

    events: EventTable
    known: Known
    centres: Centres | None
    conditions: EventConditions

    def of(self, loosened: Loosened) -> Effect:
        condition = self.conditions.of(loosened.rule)
        if condition is not None and self.conditions.keeps_nothing_out(condition):
            return Effect(RuleEffect(loosened.rule.kind, loosened.rule.text, 0))
        try:
            with sharing(SHARES):
                return self._effect(loosened, condition)
        except CereusError as error:
            note, rule = error.message.splitlines()[0], loosened.rule
            return Effect(RuleEffect(rule.kind, rule.text, None, note=note))

    def _effect(self, loosened: Loosened, condition: ex.Expression | None) -> Effect:
        """The effect of loosening a rule; `condition` is that of the rule, if it is a condition on
        single events."""
        rule, tally = loosened.rule, None
        names = sorted(frozenset() if rule.condition is None else ex.variables(rule.condition))
        for query in _tried(loosened, self.events):
            more, until = self._more(query, names, self._centres(rule, condition, query))
            matches = more[:MOST_LOOKED_AT]
            if query is loosened.much and len(more) == len(matches):
                tally = ending(matches, self.events, until)
            if more:
                break
        exact = len(more) == len(matches) and query is loosened.without and until is None
        summary = RuleEffect(rule.kind, rule.text, len(matches), exact)
        matches = with_taken(loosened, matches, self.events, most_read(self.events))
        by = measure(rule, matches, self.events)
        return _close(Effect(summary, matches, by, tally, until, more=len(more) > len(matches)))

    def _centres(
        self, rule: QueryRule, condition: ex.Expression | None, query: CompiledQuery
    ) -> Centres | None:
        """The places of events of which every match of a query without a rule has one."""
        if condition is not None:
            return self.conditions.centres_without(condition)
        if asks_the_same(rule) and self.centres is not None:
            return self.centres
        return rarest(query.anatomy(self.events.schema), self.events)

    def _more(
        self, query: CompiledQuery, names: Sequence[str], centres: Centres | None
    ) -> tuple[list[FoundMatch], int | None]:
        """Matches of a query beside the known ones, one more than are looked at; and until where
        they were looked for."""
        anatomy = query.anatomy(self.events.schema)
        if centres is not None and not len(centres):
            return [], None
        shown = anatomy.bindings if names and anatomy.bindings else query
        most = most_read(self.events)
        run = Run.of(shown, self.events, centres=centres, most=most, few=True)
        return list(islice(_new(run, self.known, names), MOST_LOOKED_AT + 1)), run.until


class EventConditions:
    """The conditions of a query on single events, and the tests that each is a part of."""

    def __init__(self, anatomy: Anatomy, tests: Iterable[EventTest], events: EventTable) -> None:
        self.anatomy, self.events = anatomy, events
        self._tests: dict[ex.Expression, list[EventTest]] = {}
        self._alone: dict[int, frozenset[ex.Expression]] = {}
        for test in dict.fromkeys(tests):
            for condition in test.conditions:
                self._tests.setdefault(condition, []).append(test)

    def of(self, rule: QueryRule) -> ex.Expression | None:
        """The condition of a rule, as tests have it; None if it is not a condition on single
        events."""
        if rule.kind is not RuleKind.CONDITION or rule.condition is None:
            return None
        if len(ex.variables(rule.condition)) > 1:
            return None
        condition = ex.without_variable(rule.condition)
        with suppress(CereusError):  # a language may have other names for columns
            condition = coerce(condition, self.events.schema)
        return condition if condition in self._tests else None

    def keeps_nothing_out(self, condition: ex.Expression) -> bool:
        """Whether no event fails only this condition: without it the same events pass the same
        tests, so there are the same matches."""
        return all(self._is_implied(condition, test) for test in self._tests[condition])

    def _is_implied(self, condition: ex.Expression, test: EventTest) -> bool:
        return not test.negated and condition not in self._failed_alone(test)

    def _failed_alone(self, test: EventTest) -> frozenset[ex.Expression]:
        """The conditions of a test that some event fails while it satisfies all others. It is
        cached: a test may have hundreds of conditions."""
        if id(test) not in self._alone:
            self._alone[id(test)] = self.events.tested.failed_alone(test)
        return self._alone[id(test)]

    def centres_without(self, condition: ex.Expression) -> Centres | None:
        """The places of events of which every match of the query without this condition has one."""
        return rarest(self.anatomy, self.events, but=condition)


def ending(matches: Sequence[FoundMatch], events: EventTable, until: int | None = None) -> Tally:
    """All matches until some place, as a tally."""
    ends = np.zeros(len(events), bool)
    ends[events.spans([each.rows for each in matches])[1]] = True
    return Tally(len(matches), ends, until=until)


def _close(effect: Effect) -> Effect:
    """The matches that are less than twice as long as a window, if there are any."""
    if effect.rule.kind is not RuleKind.WINDOW or effect.by is None:
        return effect
    near = np.flatnonzero(effect.by.distances() <= WIDER[0] - 1)
    if not len(near):
        return effect
    return replace(
        effect, matches=[effect.matches[n] for n in near.tolist()], by=effect.by.only(near)
    )


def _tried(loosened: Loosened, events: EventTable) -> Sequence[CompiledQuery]:
    """The queries to try: a much wider window, then none. For a long stream not the latter, since a
    query without any window remembers too much."""
    both = loosened.much is not loosened.without and is_whole(events)
    return (loosened.much, loosened.without) if both else (loosened.much,)


def _new(run: Run, known: Known, names: Sequence[str]) -> Iterator[FoundMatch]:
    seen = set(known)
    for match in matched(run, names):
        if match.rows not in seen:
            seen.add(match.rows)
            yield match


def nearest(effects: Sequence[Effect], most: int) -> tuple[Miss, ...]:
    """The nearest misses of every rule in turn; each set of events once, with the rule that it
    misses least."""
    rounds = zip_longest(*(_of(effect) for effect in effects))
    chosen: dict[tuple[int, ...], tuple[Effect, int]] = {}
    for each in rounds:
        for _, rows, number, effect in sorted(filter(None, each), key=lambda miss: miss[:2]):
            if len(chosen) < most:
                chosen.setdefault(rows, (effect, number))
        if len(chosen) == most:
            break
    return tuple(effect.miss(number) for effect, number in chosen.values())


def _of(effect: Effect) -> Iterator[tuple[float, tuple[int, ...], int, Effect]]:
    return ((far, rows, number, effect) for far, rows, number in effect.nearest())
