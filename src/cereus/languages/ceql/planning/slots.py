"""Puts conditions between events into slots of the kernel: which ones slots can decide, and how.

A comparison whose sides are about one variable each, `f(A) op g(B)`, needs one value of the side
that comes first (`ComparisonFilter`). Anything else is a term over what its variables hold
(`TermFilter`), if those that come first hold one event each, or are only totalled, or if their
extremes or the set of their values decide (`intervals`). The rest (the order of several texts,
conditions under MAX, and what `choosing` refuses) goes to states that remember values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from itertools import product

import pyarrow as pa

from cereus.automata.absence import WithoutAutomaton
from cereus.automata.memory.absence import THIS, AbsenceFilter, AbsentInSlots, AbsentTerm
from cereus.automata.memory.distance import (
    BEFORE,
    NOW,
    GapInSlots,
    InnerWindowInSlots,
    InSlots,
    SuccessiveInSlots,
)
from cereus.automata.memory.exception import UnlessInSlots, Watched, WatchedPart, Watching
from cereus.automata.memory.filters import ComparisonFilter, Side, SlotFilter, TermFilter, Value
from cereus.automata.memory.intervals import is_interval
from cereus.automata.memory.past_absence import PastAbsenceFilter
from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.slots import Column, Columns, comparable
from cereus.automata.memory.term_builder import TermBuilder, ValueRead, not_too_deep
from cereus.automata.memory.terms import PastKind, Term, column, leaf
from cereus.automata.memory.terms import past as past_value
from cereus.automata.memory.totals import EVERY
from cereus.automata.model import Automaton
from cereus.expr.print import condition_text
from cereus.expr.tree import (
    Aggregate,
    Attribute,
    Comparison,
    Expression,
    has_aggregates,
    rebuild,
    variables,
    without_variable,
)
from cereus.expr.types import Kind
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_own
from cereus.languages.ceql.operators.previous import reads_previous
from cereus.languages.ceql.order import LeafOrder, leaf_order
from cereus.languages.ceql.planning.facts import ends_marked
from cereus.languages.ceql.predicates import conditions_of
from cereus.languages.ceql.print import absence_text

ORDERED = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL, Kind.TIMESTAMP, Kind.INTERVAL})
"""The kinds of values whose least and greatest can be kept."""


@dataclass
class FormulaSlots:
    """The slots of one formula, and the columns whose values they keep."""

    schema: pa.Schema
    columns: Columns = field(default_factory=Columns)
    count: int = 0
    past: list[PastKind] = field(default_factory=list)
    watched: list[WatchedPart] = field(default_factory=list)

    @property
    def watching(self) -> Watching | None:
        """The watched parts of the pattern."""
        return Watching(tuple(self.watched), self.columns.ordinal()) if self.watched else None

    def unless(self, left: Automaton, right: Automaton, number: int) -> UnlessInSlots:
        """`left UNLESS right`, where events of the right side are compared."""
        column = self.columns.watched(len(self.watched))
        self.watched.append(WatchedPart(Watched(right), column))
        return UnlessInSlots(left, right, number, column, self.columns.ordinal())

    def filter(
        self, body: Automaton, number: int, condition: Expression, formula: cel.Formula
    ) -> SlotFilter:
        """`formula FILTER condition`, whose automaton without the condition is `body`."""
        order = leaf_order(formula)
        why = _many_events(condition, order)
        if is_comparison(condition):
            assert isinstance(condition, Comparison)
            try:
                left, right = self._sides(condition, order)
                self.count += 2
                return ComparisonFilter(body, number, condition.op, left, right)
            except CannotUseSlots:
                if why is not None:
                    raise
        if why is not None:
            raise CannotUseSlots(why)
        builder = TermBuilder(condition, self.schema)
        read = builder.readings
        totals = any(reading.total for reading in read)
        values: list[Value] = []
        leaves: list[list[Term]] = []
        for reading in read:
            others = variables(condition) - {reading.variable}
            needed = totals or _followed(reading.variable, others, order)
            column = self.columns.read(reading)
            repeats = order.may_follow(reading.variable, reading.variable)
            many = needed and repeats and reading.total is None
            kept = _of_many(reading, read, condition) if many else (reading.total or "set",)
            leaves.append([leaf(len(values) + place) for place in range(len(kept))])
            values += [Value(reading.variable, column, how, needed) for how in kept]
        sets = [value.variable for value in values if value.how == EVERY]
        if len(sets) > 1 and len(variables(condition)) > 2:
            raise CannotUseSlots(_both_sets(sets))
        term = builder.term(lambda reading: leaf(read.index(reading)))
        corners = [term.filled(corner) for corner in product(*leaves)]
        term = not_too_deep(reduce(lambda one, other: Term("and", (one, other)), corners))
        self.count += len(values)
        return TermFilter(body, number, term, tuple(values), condition_text(condition))

    def absence(
        self,
        plain: WithoutAutomaton,
        number: int,
        compared: list[tuple[int, tuple[Expression, ...]]],
        node: cel.Without,
    ) -> AbsenceFilter:
        """The filter for events with these bits that must not occur where these conditions hold.
        Runs notice it when such an event comes, or, if the event is compared with later ones, they
        look back."""
        refused = absence_refusal(node)
        if refused is not None:
            raise CannotUseSlots(refused)
        looks_back = not _all_come_first(node)
        values: dict[Value, None] = {}

        def kept(every: tuple[Expression, ...]) -> tuple[tuple[AbsentTerm, ...], tuple[int, ...]]:
            """The conditions of a kind, and the columns that are kept of its events."""
            columns: dict[int, None] = {}

            def read(reading: ValueRead) -> Term:
                number = self.columns.read(reading)
                if reading.variable != THIS:
                    value = Value(reading.variable, number)
                    values[value] = None
                    return leaf(list(values).index(value))
                if not looks_back:
                    return column(number)
                columns[number] = None
                return past_value(list(columns).index(number))

            terms = (TermBuilder(each, self.schema).term(read) for each in every)
            others = (variables(each) - {THIS} for each in every)
            return tuple(map(AbsentTerm, terms, others)), tuple(columns)

        made = [(bit, *kept(every)) for bit, every in compared]
        kinds = tuple(AbsentInSlots(bit, conditions) for bit, conditions, _ in made)
        parts = (plain.body, plain.mask, plain.through, plain.ends_marked)
        known = (number, tuple(values), kinds, absence_text(node))
        self.count += len(values) + looks_back
        if not looks_back:
            return AbsenceFilter(*parts, *known)
        numbers = tuple(range(len(self.past), len(self.past) + len(made)))
        self.past += [PastKind(bit, columns, always=False) for bit, _, columns in made]
        return PastAbsenceFilter(*parts, *known, numbers)

    def distance(
        self,
        body: Automaton,
        number: int,
        condition: Expression,
        kind: type[InnerWindowInSlots] | type[GapInSlots],
    ) -> InSlots:
        """The distance of the event at hand from the remembered one."""
        term, values = self._with_before(condition)
        return kind(body, number, term, values, condition_text(condition))

    def successive(
        self, body: Automaton, number: int, condition: Expression, variable: str, text: str
    ) -> InSlots:
        """A condition between each event of a variable and the one before it."""
        term, values = self._with_before(condition)
        return SuccessiveInSlots(body, variable, number, term, values, text)

    def _with_before(self, condition: Expression) -> tuple[Term, tuple[Value, ...]]:
        """A condition on the event at hand and on a remembered one, and the values of the
        latter."""
        values: list[Value] = []

        def read(reading: ValueRead) -> Term:
            number = self.columns.read(reading)
            if reading.variable == NOW:
                return column(number)
            value = Value(BEFORE, number)
            if value not in values:
                values.append(value)
            return leaf(values.index(value))

        term = TermBuilder(condition, self.schema).term(read)
        self.count += len(values)
        return term, tuple(values)

    def _sides(self, condition: Comparison, order: LeafOrder) -> tuple[Side, Side]:
        """`f(A) op g(B)` (`is_comparison`) as two sides."""
        kind = comparable(condition, self.schema)
        parts = (condition.left, condition.right)
        (left,), (right,) = map(variables, parts)
        if condition.op == "!=":
            many = any(
                order.may_follow(name, name) and order.may_follow(name, other)
                for name, other in ((left, right), (right, left))
            )
            if not many or kind == "float":  # such columns have no NaN, which is unequal to all
                raise CannotUseSlots("a term decides it")
        first, second = (
            Side(
                name,
                self.columns.number(Column(without_variable(part), kind)),
                needed=order.may_follow(name, other),
                repeats=order.may_follow(name, name),
            )
            for name, other, part in ((left, right, parts[0]), (right, left, parts[1]))
        )
        return first, second


def absence_refusal(node: cel.Without) -> str | None:
    """Why slots can never decide what must not occur, whatever the types of its columns."""
    if _all_come_first(node):
        return None
    order, word = leaf_order(node.body), "UNTIL" if node.through else "WITHOUT"
    for name in _read_by_absence(node):
        if order.may_follow(name, name):
            return f"{word} has to remember every event of {name}, which is compared with others"
    if node.through:
        return "UNTIL remembers every such event that is compared with one that may come later"
    if not ends_marked(node.body):
        return "WITHOUT does not see where the part before it ends"
    return None


def _all_come_first(node: cel.Without) -> bool:
    """Whether what must not occur is compared only with the first event of a match."""
    return all(map(leaf_order(node.body).comes_first, _read_by_absence(node)))


def _read_by_absence(node: cel.Without) -> list[str]:
    """The variables that are compared with what must not occur."""
    return sorted(
        {
            name
            for event in node.events
            for condition in conditions_of(event.predicate)
            for name in variables(condition)
            if not is_own(event, name)
        }
    )


def refusal(condition: Expression, body: cel.Formula) -> str | None:
    """Why slots can never decide the condition, whatever the types of its columns."""
    if is_comparison(condition) or reads_previous(condition):
        return None
    return _many_events(condition, leaf_order(body))


def is_comparison(condition: Expression) -> bool:
    """Whether this is `f(A) op g(B)` that one value of each side decides, however many events it
    holds, or the set of its values."""
    if not isinstance(condition, Comparison):
        return False
    names = [variables(condition.left), variables(condition.right)]
    streams = any(">" in name for name in names[0] | names[1])  # events of one stream, S>R
    one_each = [len(n) for n in names] == [1, 1] and names[0] != names[1]
    return one_each and not streams and not has_aggregates(condition)


def _many_events(condition: Expression, order: LeafOrder) -> str | None:
    """The variables whose events would have to be remembered in ways that slots do not have."""
    totals = has_aggregates(condition)
    sets = []
    for name in sorted(_read_variables(condition)):
        others = variables(condition) - {name}
        many = order.may_follow(name, name) and (totals or _followed(name, others, order))
        if not many or is_interval(_without_totals(condition), name):
            continue
        if totals:
            return f"it has to remember every event of {name}"
        sets.append(name)
    if len(sets) > 1 and len(variables(condition)) > 2:
        return _both_sets(sets)
    if any(">" in name for name in variables(condition)):
        return "it is about the events of one stream"
    return None


def _both_sets(names: list[str]) -> str:
    return f"it has to remember every event of {' and of '.join(names)}"


def _of_many(
    reading: ValueRead, read: tuple[ValueRead, ...], condition: Expression
) -> tuple[str, ...]:
    """The values that are kept of a variable with several events: their extremes, if these decide,
    or the set of their values."""
    if sum(each.variable == reading.variable and each.total is None for each in read) > 1:
        raise CannotUseSlots(f"it has to remember every event of {reading.variable}")
    if not is_interval(_without_totals(condition), reading.variable):
        return (EVERY,)
    if reading.kind not in ORDERED:
        raise CannotUseSlots(f"it has to remember every event of {reading.variable}")
    kind = Kind.FLOAT if reading.kind is Kind.FLOAT else Kind.INTEGER
    return f"least {kind}", f"greatest {kind}"


def _without_totals(condition: Expression) -> Expression:
    """The condition with each aggregate as another variable: all events are compared with the same
    value of it."""
    if isinstance(condition, Aggregate):
        return Attribute((condition.function,), f"{condition.function}({condition.variable})")
    return rebuild(condition, _without_totals)


def _followed(name: str, others: frozenset[str], order: LeafOrder) -> bool:
    """Whether an event of the others may come after one of `name`."""
    return any(order.may_follow(name, other) for other in others)


def _read_variables(condition: Expression) -> frozenset[str]:
    """The variables whose attributes are read, and not only totals."""
    return frozenset(
        node.variable
        for node in condition.walk()
        if isinstance(node, Attribute) and node.variable is not None
    )
