"""Formula → automaton over event tests (the construction of Theorem 6.2, operator by operator)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from cereus.automata import beside
from cereus.automata import construct as make
from cereus.automata.absence import WithoutAutomaton
from cereus.automata.growing import grows_alone, takes_in_later
from cereus.automata.memory.absence import AbsentByValues, ValueAbsence
from cereus.automata.memory.chosen import (
    EARLIEST,
    LARGEST,
    LARGEST_OF_ALL,
    LATEST,
    LATEST_FROM_THERE,
    Begins,
    ChosenInSlots,
)
from cereus.automata.memory.distance import (
    LEFT,
    NEXT,
    FirstMarked,
    GapByValues,
    GapInSlots,
    InnerEventWindow,
    InnerWindowByValues,
    InnerWindowInSlots,
    SuccessiveByValues,
    Unspaced,
)
from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.rivals import RivalRuns
from cereus.automata.memory.values import ValueFilter
from cereus.automata.model import MOST_STAMPS, Automaton
from cereus.automata.strategies import select
from cereus.automata.subset import MOST_LETTERS
from cereus.clauses.tree import AttributeWindow, EventWindow, Strategy, TimeWindow
from cereus.expr.print import condition_text
from cereus.expr.tree import Expression, attributes, conjuncts, variables, without_variable
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.operators.previous import between_two, reads_previous
from cereus.languages.ceql.planning.choosing import (
    ChosenPart,
    begins_apart,
    by_node,
    choices,
    compares_events,
    exception_refusal,
    is_choice,
    nested,
)
from cereus.languages.ceql.planning.distance import condition as distance_condition
from cereus.languages.ceql.planning.distance import measured_path
from cereus.languages.ceql.planning.facts import compares_matches, ends_marked
from cereus.languages.ceql.planning.slots import FormulaSlots
from cereus.languages.ceql.planning.streams import Streams
from cereus.languages.ceql.predicates import is_between
from cereus.plan.alphabet import alphabet
from cereus.plan.lowered import Lowered, slots_else_values
from cereus.plan.tests import EventTest, TestSet
from cereus.plan.traits import CHOOSING
from cereus.stream import Stream

CANNOT_CHOOSE = "WITH TIMEOUTS follows all runs at once"
TOO_MANY_SIDES = f"more than {MOST_STAMPS} strategies stand in ALL"
"""Why slots cannot be used."""


class MatchChoice(NamedTuple):
    """How a query chooses among its matches.

    why_values  a reason not to use slots
    chooses     the kernel may choose for strategies inside the pattern
    largest     with slots, the kernel chooses for MAX around all of it
    grows       MAX need not compare matches where one run has all events of others
    """

    why_values: str | None = None
    chooses: bool = True
    largest: bool = False
    grows: bool = False


def lowered(
    formula: cel.Formula,
    streams: Streams,
    schema: pa.Schema | None,
    *,
    stream: Stream,
    choice: MatchChoice,
    correlated: bool = True,
) -> Lowered[Automaton]:
    """The formula as an automaton, with slots if they can decide all conditions between events."""
    chosen = list(choices(formula))
    refusals = [each.refusal or (None if choice.chooses else CANNOT_CHOOSE) for each in chosen]
    known = partial(FormulaLowering, streams, schema=schema, stream=stream)
    return slots_else_values(
        schema,
        lambda types: known(FormulaSlots(types), chosen=by_node(chosen)).lowered(formula, choice),
        lambda: known(correlated=correlated).lowered(formula, choice),
        why_not=next(filter(None, [choice.why_values, *refusals]), None),
    )


@dataclass
class FormulaLowering:
    """The common part of lowering all parts of one formula. Conditions between events are decided
    by `slots`; without slots, by values in states."""

    streams: Streams
    slots: FormulaSlots | None = None
    correlated: bool = True
    """Whether absence reads values of other events; if not, such events may occur."""
    schema: pa.Schema | None = None
    stream: Stream = field(default_factory=Stream)
    tests: TestSet = field(default_factory=TestSet)
    compared: set[tuple[str, ...]] = field(default_factory=set)
    """The attributes that conditions between events read."""
    comparisons: int = 0
    scoped: bool = False
    chosen: dict[cel.Select, ChosenPart] = field(default_factory=dict)
    """The strategies that the kernel chooses for."""
    parts: list[ChosenInSlots] = field(default_factory=list)
    """The parts that have rivals."""
    stamps: int = 0
    """How many parts put a stamp on the events that they mark."""
    beside: int = 0
    """How many strategies beside the part at hand the kernel chooses for at once."""

    def lowered(self, formula: cel.Formula, choice: MatchChoice) -> Lowered[Automaton]:
        automaton = self.automaton(formula)
        apart = begins_apart(formula)
        nests = choice.grows and not apart and self._nests(automaton)
        grows = choice.grows and apart and self._grows_alone(automaton)
        if choice.largest and self.slots is not None and self.comparisons and not grows:
            chooses = LARGEST if apart else LARGEST_OF_ALL
            automaton = self._in_scope(formula, automaton, chooses, Begins.MARKING)
        if self.parts:
            automaton = RivalRuns(automaton, tuple(self.parts))
        return Lowered(
            automaton,
            self.tests.tests,
            frozenset(self.compared),
            correlated=self.comparisons > 0,
            columns=() if self.slots is None else tuple(self.slots.columns.numbers),
            slots=0 if self.slots is None else self.slots.count,
            in_slots=self.slots is not None,
            past=() if self.slots is None else tuple(self.slots.past),
            scoped=self.scoped,
            grows=grows,
            nests=nests,
            watching=None if self.slots is None else self.slots.watching,
        )

    def _grows_alone(self, automaton: Automaton) -> bool:
        """Whether one run is left of those that begin at an event, and no state has values."""
        if self.scoped or (self.comparisons and self.slots is None):
            return False
        possible = alphabet(self.tests.tests, self.stream, MOST_LETTERS)
        return possible.complete and grows_alone(automaton, possible.letters)

    def _nests(self, automaton: Automaton) -> bool:
        """Whether the first match to begin contains all others that end at the same event."""
        if self.scoped or self.comparisons:
            return False
        possible = alphabet(self.tests.tests, self.stream, MOST_LETTERS)
        return possible.complete and takes_in_later(automaton, possible.letters)

    def automaton(self, formula: cel.Formula) -> Automaton:
        match formula:
            case cel.Type():
                return self._events(formula, ())
            case cel.Not(body):
                return make.not_atom(self.tests.bit(self.streams.negated(body)))
            case cel.As(body, variable):
                return make.Bind(self.automaton(body), variable)
            case cel.Filter(body, predicate):
                return self._filter(body, predicate)
            case cel.Sequence() | cel.ContiguousSequence():
                parts = [
                    (self.automaton(part), may_be_nothing(part)) for part in cel.chain(formula)
                ]
                return make.concatenation(parts, isinstance(formula, cel.ContiguousSequence))
            case cel.Iteration(body):
                return make.RepetitionAutomaton(self.automaton(body))
            case cel.ContiguousIteration(body):
                return make.RepetitionAutomaton(self.automaton(body), True)
            case cel.Optional(body):
                return self.automaton(body)  # the pattern around it may leave it out
            case cel.Repeated():
                return self._repeated(formula)
            case cel.Gapped():
                return self._gapped(formula)
            case cel.Within(body, EventWindow(size)):
                return InnerEventWindow(self.automaton(body), size)
            case cel.Within(body, TimeWindow() | AttributeWindow() as window):
                return self._spaced(self.automaton(body), window, InnerWindowInSlots)
            case cel.Or():
                return make.union([self.automaton(part) for part in cel.chain(formula)])
            case cel.And(left, right):
                return beside.Product(*self._beside([left, right]))
            case cel.All():
                sides = cel.chain(formula)
                return beside.Interleaving(self._beside(sides), tuple(map(may_be_nothing, sides)))
            case cel.Unless(left, right):
                if self.slots is not None and compares_events(right):
                    return self._watched(self.automaton(left), right)
                return beside.UnlessAutomaton(self.automaton(left), self.automaton(right))
            case cel.Without():
                return self._without(formula)
            case cel.Start(body):
                return make.Anchored(self.automaton(body))
            case cel.Project(names, body):
                return make.Projection(self.automaton(body), names)
            case cel.Select(strategy, body):
                automaton = self.automaton(body)
                if self.slots is not None and is_choice(formula):
                    return self._chosen(formula, automaton)
                compares = strategy not in CHOOSING or compares_matches(strategy, body)
                return select(strategy, automaton) if compares else automaton
        raise TypeError(f"not a CEL formula: {formula!r}")

    def _beside(self, sides: Sequence[cel.Formula]) -> tuple[Automaton, ...]:
        """The sides of AND or ALL, whose strategies choose at once."""
        automata: list[Automaton] = []
        before = self.beside
        for side in sides:
            automata.append(self.automaton(side))
            self.beside += nested(side)
        self.beside = before
        return tuple(automata)

    def _chosen(self, node: cel.Select, automaton: Automaton) -> Automaton:
        """The automaton of a strategy for which the kernel chooses."""
        how = self.chosen[node]
        chooses, begins = LATEST, Begins.READING
        if node.strategy is Strategy.NEXT:
            chooses = EARLIEST
            begins = Begins.MARKING if how.begins_anywhere else Begins.READING
        elif node.strategy is Strategy.MAX:
            chooses = LARGEST
            apart = how.begins_anywhere or begins_apart(node.body)
            begins = Begins.MARKING if apart else Begins.READING
        elif how.begins_anywhere:
            chooses, begins = LATEST_FROM_THERE, Begins.ANYWHERE
        part = self._in_scope(node.body, automaton, chooses, begins)
        part = replace(part, rivals=how.rivals, stamp=self._stamp() if how.beside else 0)
        if part.rivals:
            self.parts.append(part)
        return part

    def _stamp(self) -> int:
        if self.stamps == MOST_STAMPS:
            raise CannotUseSlots(TOO_MANY_SIDES)
        self.stamps += 1
        return self.stamps

    def _in_scope(
        self, body: cel.Formula, automaton: Automaton, chooses: str, begins: Begins
    ) -> ChosenInSlots:
        """The automaton of a body among whose matches the kernel chooses."""
        assert self.slots is not None
        self.scoped = True
        self.comparisons += 1
        self.slots.count += 1
        inside = nested(body) + self.beside
        return ChosenInSlots(automaton, self.comparisons, chooses, inside, begins)

    def _repeated(self, node: cel.Repeated) -> Automaton:
        fewest = 1 if may_be_nothing(node.body) else max(node.least, 1)
        body = self.automaton(node.body)
        if node.gap is not None:
            body = make.Bind(FirstMarked(body, NEXT), LEFT)
        rounds = make.CountedAutomaton(body, fewest, node.most, node.contiguous)
        return rounds if node.gap is None else self._spaced(rounds, node.gap, GapInSlots)

    def _gapped(self, node: cel.Gapped) -> Automaton:
        left = make.Bind(self.automaton(node.left), LEFT)
        right = FirstMarked(self.automaton(node.right), NEXT)
        both = make.ConcatenationAutomaton(
            left, right, node.contiguous, may_be_nothing(node.left), may_be_nothing(node.right)
        )
        return self._spaced(both, node.gap, GapInSlots)

    def _spaced(
        self,
        body: Automaton,
        length: TimeWindow | AttributeWindow | cel.GapLength,
        kind: type[InnerWindowInSlots] | type[GapInSlots],
    ) -> Automaton:
        """The automaton for events within a distance, by a condition between the event at hand and
        the one before."""
        path = measured_path(length, self.stream)
        condition = distance_condition(length, self.stream, self.schema)
        self.compared |= {path}
        self.comparisons += 1
        if self.slots is not None:
            return self.slots.distance(body, self.comparisons, condition, kind)
        if not self.correlated:
            self.comparisons -= 1
            return Unspaced(body)
        by_values = GapByValues if kind is GapInSlots else InnerWindowByValues
        return by_values(body, condition, (path,))

    def _without(self, node: cel.Without) -> Automaton:
        """Events that must not occur: tests of single events, and conditions between events."""
        body, ends = self.automaton(node.body), ends_marked(node.body)
        mask, compared = 0, []
        for event in node.events:
            for test, conditions in self.streams.excluded(event):
                bit = self.tests.bit(test)
                if conditions:
                    compared.append((bit, conditions))
                else:
                    mask |= 1 << bit
        if not compared or not self.correlated:
            return WithoutAutomaton(body, mask, node.through, ends)
        self.compared |= {path for _, every in compared for c in every for path in attributes(c)}
        self.comparisons += 1
        if self.slots is not None:
            plain = WithoutAutomaton(body, mask, node.through, ends)
            return self.slots.absence(plain, self.comparisons, compared, node)
        kinds = tuple(AbsentByValues(*each) for each in compared)
        return ValueAbsence(body, mask, node.through, ends, kinds)

    def _watched(self, left: Automaton, exception: cel.Formula) -> Automaton:
        """`left UNLESS exception`, where events of the exception are compared."""
        assert self.slots is not None
        refused = exception_refusal(exception)
        if refused is not None:
            raise CannotUseSlots(refused)
        right = self.automaton(exception)
        self.comparisons += 1
        self.slots.count += 1
        return self.slots.unless(left, right, self.comparisons)

    # ------------------------------------------------------------ events

    def _events(self, node: cel.Type, filters: tuple[Expression, ...]) -> Automaton:
        """A type under filters on its own variables: the filters become part of the test."""
        return make.union(
            [
                make.AtomAutomaton(self.tests.bit(test), label)
                for test, label in self.streams.tests(node, filters)
            ]
        )

    # ------------------------------------------------------------ filters

    def _filter(self, body: cel.Formula, predicate: cel.Predicate) -> Automaton:
        match predicate:
            case cel.AllOf(operands):
                for operand in operands[:-1]:
                    body = cel.Filter(body, operand)
                return self._filter(body, operands[-1])
            case cel.AnyOf(operands):
                return make.union([self._filter(body, operand) for operand in operands])
            case cel.Holds(condition):
                return self._local(body, condition)
        raise TypeError(f"not a predicate: {predicate!r}")

    def _local(self, body: cel.Formula, condition: Expression) -> Automaton:
        if is_between(condition):
            return self._between(body, condition)
        event, filters = _event_under_filters(cel.Filter(body, cel.Holds(condition)))
        if event is not None:
            return self._events(event, filters)
        test = EventTest(None, None, conjuncts(without_variable(condition)))
        variable = next(iter(variables(condition)), "")
        return make.Restrict(self.automaton(body), variable, self.tests.bit(test))

    def _between(self, body: cel.Formula, condition: Expression) -> Automaton:
        """A condition between events."""
        self.compared |= attributes(condition)
        inner = self.automaton(body)
        self.comparisons += 1
        if reads_previous(condition):
            return self._successive(inner, condition)
        if self.slots is None:
            return ValueFilter(inner, condition)
        return self.slots.filter(inner, self.comparisons, condition, body)

    def _successive(self, inner: Automaton, condition: Expression) -> Automaton:
        """A condition between each event of a variable and the one before it."""
        (variable,) = variables(condition)
        pair = between_two(condition)
        if self.slots is None:
            return SuccessiveByValues(inner, variable, pair, tuple(sorted(attributes(pair))))
        text = condition_text(condition)
        return self.slots.successive(inner, self.comparisons, pair, variable, text)


def _event_under_filters(
    formula: cel.Formula,
) -> tuple[cel.Type | None, tuple[Expression, ...]]:
    """`R FILTER p FILTER q …` as the type and its filters; (None, ()) for any other formula."""
    if isinstance(formula, cel.Type):
        return formula, ()
    if isinstance(formula, cel.Filter) and isinstance(formula.predicate, cel.Holds):
        event, filters = _event_under_filters(formula.body)
        return event, (*filters, *conjuncts(formula.predicate.condition))
    return None, ()
