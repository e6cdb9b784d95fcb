"""SASE+ → NFA^b over event tests: a clause on one event becomes a test; a clause that compares
events becomes a question to the memory of runs (`nfa.memory`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow
from cereus.clauses.tree import Window as QueryWindow
from cereus.expr import tree as ex
from cereus.expr.paths import type_at
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.memory import NfaMemory
from cereus.languages.sase.nfa.negation import (
    ForbiddenEvent,
    ForbiddenSeries,
    NegatedComponent,
    Window,
)
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.languages.sase.nfa.stages import NfaStage, Question
from cereus.languages.sase.places import ClausePlace, Placed, identifiers, placed
from cereus.plan.lowered import Lowered
from cereus.plan.tests import EventTest, TestSet
from cereus.stream import Stream, time_window

CONTIGUOUS = (sase.Strategy.STRICT, sase.Strategy.PARTITION)
FIRST = (ClausePlace.FIRST, ClausePlace.EACH)
MORE = (ClausePlace.EACH, ClausePlace.LATER)
LAST = (ClausePlace.LAST,)


@dataclass
class BlockLowering(ABC):
    """Lowers one query block. A subclass decides how values are remembered."""

    query: sase.Query
    stream: Stream
    schema: pa.Schema | None
    keyed: bool
    tests: TestSet = field(default_factory=TestSet)
    compared: set[sase.Path] = field(default_factory=set)
    """The columns whose values are compared with those of other events."""

    # ------------------------------------------------------------ how values are remembered

    @abstractmethod
    def question(
        self, clauses: list[ex.Expression], bit: int | None, at: Question, stage: int
    ) -> Question:
        """The conditions of `at` as one question; `stage` is the last state that uses it."""

    @abstractmethod
    def memory(self, stages: tuple[NfaStage, ...]) -> NfaMemory: ...

    # ------------------------------------------------------------ the automaton

    def lowered(self) -> Lowered[Nfa]:
        automaton = self.automaton()
        compared = frozenset(self.compared)
        return Lowered(
            automaton,
            self.tests.tests,
            compared,
            correlated=bool(compared),
            slots=int(automaton.waits_for_time),
        )

    def automaton(self) -> Nfa:
        stages = tuple(self._stages())
        negations = tuple(self._negations())
        if self._sees_all(stages, negations):
            self.tests.bit(EventTest())
        return Nfa(stages, negations, self.memory(stages))

    @cached_property
    def clauses(self) -> tuple[Placed, ...]:
        """All clauses; equivalence tests that are not keys compare every event with the first."""
        clauses = list(placed(self.query))
        if not self.keyed:
            clauses += [
                each
                for path in self.query.equivalences
                for variable in (part.variable for part in self.query.parts)
                for each in self._agrees(variable, path)
            ]
        return tuple(clauses)

    def _agrees(self, variable: str, path: sase.Path) -> Iterable[Placed]:
        begin = self.query.components[0]
        component = self.query.component(variable)
        several = isinstance(component, sase.Kleene)
        if component is begin and not several:
            return
        place = (
            ClausePlace.LATER
            if component is begin
            else ClausePlace.EACH
            if several
            else ClausePlace.FIRST
        )
        here, first = _identifier(component, path, sase.Index.EACH), _identifier(begin, path)
        null = ex.And((ex.IsNull(here), ex.IsNull(first)))
        ways: tuple[ex.Expression, ...] = (ex.Comparison("=", here, first), null)
        if self._may_be_nan(path):
            ways += (ex.And((ex.Comparison("!=", here, here), ex.Comparison("!=", first, first))),)
        yield Placed(sase.Clause(ex.Or(ways), partition=True), variable, place)

    def _may_be_nan(self, path: sase.Path) -> bool:
        """Whether a column may have NaN, which equals nothing, but agrees with NaN as in a key."""
        type_ = None if self.schema is None else type_at(self.schema, path)
        return type_ is None or pa.types.is_floating(type_)

    def _sees_all(
        self, stages: tuple[NfaStage, ...], negations: tuple[NegatedComponent, ...]
    ) -> bool:
        """Whether events that satisfy nothing matter: they break contiguity, or are counted."""
        by_places = isinstance(self.query.window, EventWindow)
        return (
            any(stage.strategy in CONTIGUOUS for stage in stages)
            or any(isinstance(n, ForbiddenSeries) and n.contiguous for n in negations)
            or (by_places and any(n.leads for n in negations))
            or (by_places and any(stage.last is not None for stage in stages))
        )

    # ------------------------------------------------------------ states

    def _stages(self) -> Iterable[NfaStage]:
        number = 0
        for index, component in enumerate(self.query.components):
            for more in (False, True)[: 1 + isinstance(component, sase.Kleene)]:
                yield self._stage(index, component, more, number)
                number += 1

    def _stage(self, index: int, component: sase.Component, more: bool, number: int) -> NfaStage:
        variable, kleene = component.variable, isinstance(component, sase.Kleene)
        at = Question(at=variable, first=not more)
        places = MORE if more else FIRST
        last = None
        last_now = None
        if self._placed(variable, LAST):
            if more:
                last = self._question(variable, LAST, Question(), number)
            last_now = self._question(variable, LAST, at._replace(after=True), number)
        return NfaStage(
            index,
            variable,
            more,
            kleene,
            self._strategy(variable, more),
            self.query.stops(variable),
            self._question(variable, places, at, number, types=component.types),
            self._question(variable, places, at, number, partition=True),
            last,
            last_now,
        )

    def _strategy(self, variable: str, more: bool) -> sase.Strategy:
        """The strategy of a state. After a negated component contiguity applies to that component,
        so the next component is the next match."""
        strategy, parts = self.query.strategy(variable), self.query.parts
        place = [part.variable for part in parts].index(variable)
        behind = not more and place > 0 and isinstance(parts[place - 1], sase.Negated)
        return sase.Strategy.NEXT if behind and strategy is not sase.Strategy.ANY else strategy

    # ------------------------------------------------------------ conditions

    def _placed(self, variable: str, places: tuple[ClausePlace, ...]) -> list[ex.Expression]:
        return [
            each.clause.condition
            for each in self.clauses
            if each.variable == variable and each.place in places
        ]

    def _question(
        self,
        variable: str,
        places: tuple[ClausePlace, ...],
        at: Question,
        stage: int,
        *,
        types: tuple[str, ...] | None = None,
        partition: bool = False,
    ) -> Question:
        """The clauses of a variable at these places, as one question."""
        chosen = self._placed(variable, places)
        if partition:
            marked = [each.clause.condition for each in self.clauses if each.clause.partition]
            chosen = [clause for clause in chosen if clause in marked]
        local = [c for c in chosen if not at.after and is_local(c, variable, at)]
        others = [c for c in chosen if c not in local]
        bit = None
        if types is not None or local:
            bit = self.tests.bit(self._test(types, tuple(map(alone, local))))
        for clause in others:
            self.compared |= paths_of(clause)
        return self.question(others, bit, at, stage)

    def _test(self, types: tuple[str, ...] | None, local: tuple[ex.Expression, ...]) -> EventTest:
        if types is None or len(types) == 1:
            return EventTest(None if types is None else types[0], None, local)
        if self.stream.type is None:
            return EventTest("EVENT" if "EVENT" in types else types[0], None, local)
        names = tuple(map(ex.Literal, types))
        return EventTest(None, None, (ex.In(ex.Attribute((self.stream.type,)), names), *local))

    # ------------------------------------------------------------ negated components

    def _negations(self) -> Iterable[NegatedComponent]:
        after = 0
        for part in self.query.parts:
            if isinstance(part, sase.Negated):
                yield self._negation(part.component, after)
            else:
                after += 1

    def _negation(self, component: sase.Component, after: int) -> NegatedComponent:
        variable = component.variable
        contiguous = self.query.strategy(variable) in CONTIGUOUS
        as_series = isinstance(component, sase.Kleene) and (
            contiguous or bool(self._placed(variable, LAST))
        )
        later = {each.variable for each in self.query.components[after:]}
        deferred = any(
            node.variable in later
            for clause in self._placed(variable, tuple(ClausePlace))
            for node in identifiers(clause)
        )
        if after == 0 or as_series or deferred:
            return self.series(component, after, as_series, deferred)
        stages = list(self._first_stages())
        at = Question(at=variable)
        return ForbiddenEvent(
            after, self._question(variable, FIRST, at, stages[after], types=component.types)
        )

    def _first_stages(self) -> Iterable[int]:
        """The number of the first state of each component, and of the end of the pattern."""
        number = 0
        for component in self.query.components:
            yield number
            number += 1 + isinstance(component, sase.Kleene)
        yield number

    def series(
        self, component: sase.Component, after: int, as_series: bool, deferred: bool
    ) -> NegatedComponent:
        """A negated component that remembers one event in its place, or with `as_series` all
        events."""
        variable, strategy = component.variable, self.query.strategy(component.variable)
        end = max(self._first_stages())
        first, more = Question(at=variable), Question(at=variable, first=False)
        paths = {
            node.attribute if isinstance(node, sase.Aggregate) else node.path
            for clause in self._placed(variable, tuple(ClausePlace))
            for node in identifiers(clause)
            if node.variable == variable and (as_series or not is_local(clause, variable, first))
        } - {None}
        window = None
        if after == 0:
            assert self.query.window is not None, "refused without a window"
            window = self._measure(self.query.window)
            window = window._replace(compared=window.path in paths)
            paths |= {window.path} - {None}
        self.compared |= {path for path in paths if path is not None}
        begin = self._question(variable, FIRST, first, end, types=component.types)
        kept = self.tests.bit(self._test(component.types, ())) if as_series else begin.bit
        return ForbiddenSeries(
            after,
            variable,
            tuple(sorted(path for path in paths if path is not None)),
            begin,
            deferred or after == 0,
            Question(kept),
            self._question(variable, MORE, more, end, types=component.types) if as_series else None,
            self._question(variable, LAST, Question(), end) if as_series else None,
            (
                self._question(variable, FIRST, first, end, partition=True),
                self._question(variable, MORE, more, end, partition=True),
            )
            if as_series
            else None,
            contiguous=as_series and strategy in CONTIGUOUS,
            strict=strategy is sase.Strategy.STRICT,
            trails=after == len(self.query.components),
            window=window,
        )

    def _measure(self, window: QueryWindow) -> Window:
        match window:
            case EventWindow(size):
                return Window(size)
            case AttributeWindow(size, path):
                return Window(size, path)
        assert isinstance(window, TimeWindow)
        path, length = time_window(window, self.stream, self.schema)
        return Window(length, path)


def _identifier(
    component: sase.Component, path: sase.Path, at: sase.Index = sase.Index.FIRST
) -> ex.Attribute:
    if isinstance(component, sase.Kleene):
        return sase.Item(path, component.variable, at)
    return ex.Attribute(path, component.variable)


def paths_of(clause: ex.Expression) -> set[sase.Path]:
    """The columns that a clause reads."""
    read = (
        node.attribute if isinstance(node, sase.Aggregate) else node.path
        for node in identifiers(clause)
    )
    return {path for path in read if path is not None}


def is_local(clause: ex.Expression, variable: str, at: Question) -> bool:
    """Whether the event at hand alone decides a clause."""
    return all(_at_hand(node, variable, at) for node in identifiers(clause))


def _at_hand(node: ex.Expression, variable: str, at: Question) -> bool:
    match node:
        case sase.Item(_, name, index):
            near = index is sase.Index.EACH or (at.first and index is sase.Index.FIRST)
            return name == variable == at.at and near
        case ex.Attribute(_, name):
            return name == variable == at.at
    return False


def alone(node: ex.Expression) -> ex.Expression:
    """A clause of the event at hand, as a condition on one event."""
    if isinstance(node, ex.Attribute):
        return ex.Attribute(node.path, span=node.span)
    return ex.rebuild(node, alone)
