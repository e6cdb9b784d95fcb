"""Formula → automaton over event tests (the construction of Theorem 6.2, operator by operator)."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from cereus.automata import construct as make
from cereus.automata import strategies
from cereus.automata.memory.compare import CannotRegister, Columns, is_comparison, related, sides
from cereus.automata.memory.related import Related
from cereus.automata.memory.slots import Compared
from cereus.automata.memory.values import Correlated
from cereus.automata.model import Automaton, Label, marks
from cereus.clauses.tree import Strategy
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.expr.tree import Expression, attributes, variables, without_variable
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.rewrite import is_local
from cereus.plan.tests import EventTest, TestSet, conjuncts

ANY_TYPE = "*"
SELECTIONS: dict[Strategy, type[strategies.Selection]] = {
    Strategy.NEXT: strategies.Next,
    Strategy.LAST: strategies.Last,
    Strategy.ANY: strategies.Last,  # one per end position: the LAST one, to be deterministic
    Strategy.MAX: strategies.Max,
}
CHOSEN = "MAX, and a strategy inside a pattern, compare whole runs"
IN_UNLESS = "the exception of UNLESS follows all its runs at once"
"""Where registers have no room."""


def select(strategy: Strategy, automaton: Automaton) -> Automaton:
    """SEL(φ) for every strategy."""
    if strategy is Strategy.ALL:
        return automaton
    if strategy is Strategy.STRICT:
        return strategies.Strict(automaton)
    return SELECTIONS[strategy](automaton)


@dataclass(frozen=True)
class Leaf:
    """One kind of event that a type stands for: its test, and the variables that mark it."""

    type: str
    stream: str | None
    label: Label
    conditions: tuple[Expression, ...] = ()


@dataclass
class Lowering:
    """What all parts of one formula share: the tests, and the streams that it tells apart.

    `streams` is empty when events do not say which stream they came on, or nobody asks. Without
    a FROM, there may be `others`, streams that the query does not mention.
    """

    tests: TestSet
    streams: tuple[str, ...]
    only_stream: str | None = None
    stream_column: str | None = None
    others: bool = False
    schema: pa.Schema | None = None
    compared: set[tuple[str, ...]] = field(default_factory=set)
    """The attributes that conditions between events read."""
    columns: Columns = field(default_factory=Columns)
    """With a schema, registers are used for them, or CannotRegister is raised."""
    comparisons: int = 0
    slots: int = 0

    def automaton(self, formula: cel.Formula) -> Automaton:
        match formula:
            case cel.Type():
                return self._events(formula, ())
            case cel.Not(body):
                return make.not_atom(self.tests.bit(self._negated(body)))
            case cel.As(body, variable):
                return make.Bind(self.automaton(body), variable)
            case cel.Filter(body, predicate):
                return self._filter(body, predicate)
            case cel.Sequence(left, right):
                return make.Concatenation(self.automaton(left), self.automaton(right))
            case cel.ContiguousSequence(left, right):
                return make.Concatenation(self.automaton(left), self.automaton(right), True)
            case cel.Iteration(body):
                return make.Repetition(self.automaton(body))
            case cel.ContiguousIteration(body):
                return make.Repetition(self.automaton(body), True)
            case cel.Or(left, right):
                return make.Union(self.automaton(left), self.automaton(right))
            case cel.And(left, right):
                return make.Product(self.automaton(left), self.automaton(right))
            case cel.All(left, right):
                return make.Interleaving(self.automaton(left), self.automaton(right))
            case cel.Unless(left, right):
                return make.Guarded(self.automaton(left), self._without_registers(right, IN_UNLESS))
            case cel.Start(body):
                return make.Anchored(self.automaton(body))
            case cel.Project(names, body):
                return make.Projection(self.automaton(body), names)
            case cel.Select(strategy, body):
                if strategy in SELECTIONS:
                    return select(strategy, self._without_registers(body, CHOSEN))
                return select(strategy, self.automaton(body))
        raise TypeError(f"not a CEL formula: {formula!r}")

    def _without_registers(self, formula: cel.Formula, why: str) -> Automaton:
        """A part whose runs are followed as sets of states, which have no room for values."""
        before = self.comparisons
        automaton = self.automaton(formula)
        if self.schema is not None and self.comparisons > before:
            raise CannotRegister(why)
        return automaton

    # ------------------------------------------------------------ events

    def leaves(self, node: cel.Type) -> list[Leaf]:
        if not self.streams:
            label = {node.name}
            if self.only_stream is not None:
                label.add(f"{self.only_stream}>{node.name}")
            return [Leaf(node.name, None, frozenset(label))]
        leaves = [
            Leaf(node.name, stream, frozenset({node.name, f"{stream}>{node.name}"}))
            for stream in self.streams
            if node.stream in (None, stream)
        ]
        if self.others and node.stream is None:
            elsewhere = (self._not_from(self.streams),)
            leaves.append(Leaf(node.name, None, frozenset({node.name}), elsewhere))
        return leaves

    def _not_from(self, streams: tuple[str, ...]) -> Expression:
        """The condition that an event came on none of these streams."""
        assert self.stream_column is not None
        column = ex.Attribute((self.stream_column,))
        return ex.Or((ex.IsNull(column), ex.Not(ex.In(column, tuple(map(ex.Literal, streams))))))

    def _events(self, node: cel.Type, filters: tuple[Expression, ...]) -> Automaton:
        """A type under filters on its own variables: the filters become part of the test."""
        automata: list[Automaton] = []
        for leaf in self.leaves(node):
            conditions = tuple(f for f in filters if variables(f) <= leaf.label)
            test = EventTest(
                None if leaf.type == ANY_TYPE else leaf.type,
                leaf.stream,
                (*leaf.conditions, *(without_variable(c) for c in conditions)),
            )
            automata.append(make.Atom(self.tests.bit(test), leaf.label))
        whole = automata[0]
        for part in automata[1:]:
            whole = make.Union(whole, part)
        return whole

    def _negated(self, body: cel.Formula) -> EventTest:
        """The test for an event that is not such as `body` describes."""
        conditions: list[Expression] = []
        node = body
        while not isinstance(node, cel.Type):
            if isinstance(node, cel.Filter):
                conditions.append(self._as_condition(node.predicate))
                node = node.body
            elif isinstance(node, cel.As):
                node = node.body
            else:
                raise RefusedError("NOT takes one event", span=body.span)
        return EventTest(
            None if node.name == ANY_TYPE else node.name,
            node.stream if self.streams else None,
            tuple(conditions),
            negated=True,
        )

    def _as_condition(self, predicate: cel.Predicate) -> Expression:
        """A filter on a single event as one condition on it."""
        match predicate:
            case cel.Holds(condition):
                return self._of_its_stream(condition)
            case cel.AllOf(operands):
                return ex.And(tuple(map(self._as_condition, operands)))
            case cel.AnyOf(operands):
                return ex.Or(tuple(map(self._as_condition, operands)))
        raise TypeError(f"not a predicate: {predicate!r}")

    def _of_its_stream(self, condition: Expression) -> Expression:
        """What `S>R[…]` asks of an event; it is true of an event of another stream."""
        named = {variable.rpartition(">")[0] for variable in variables(condition)}
        streams = sorted(named - {"", self.only_stream})
        if not streams:
            return without_variable(condition)
        if not self.streams:
            return ex.Literal(True)
        elsewhere = [self._not_from((stream,)) for stream in streams]
        return ex.Or((*elsewhere, without_variable(condition)))

    # ------------------------------------------------------------ filters

    def _filter(self, body: cel.Formula, predicate: cel.Predicate) -> Automaton:
        match predicate:
            case cel.AllOf(operands):
                for operand in operands[:-1]:
                    body = cel.Filter(body, operand)
                return self._filter(body, operands[-1])
            case cel.AnyOf(operands):
                whole = self._filter(body, operands[0])
                for operand in operands[1:]:
                    whole = make.Union(whole, self._filter(body, operand))
                return whole
            case cel.Holds(condition):
                return self._local(body, condition)
        raise TypeError(f"not a predicate: {predicate!r}")

    def _local(self, body: cel.Formula, condition: Expression) -> Automaton:
        names = variables(condition)
        if len(names) > 1 or not is_local(condition):
            return self._between(body, condition)
        event, filters = _event_under_filters(cel.Filter(body, cel.Holds(condition)))
        if event is not None:
            return self._events(event, filters)
        test = EventTest(None, None, conjuncts(without_variable(condition)))
        return make.Restrict(self.automaton(body), next(iter(names), ""), self.tests.bit(test))

    def _between(self, body: cel.Formula, condition: Expression) -> Automaton:
        """A condition between events."""
        self.compared |= attributes(condition)
        inner = self.automaton(body)
        self.comparisons += 1
        if self.schema is None:
            return Correlated(inner, condition)
        number = self.comparisons
        if is_comparison(condition):
            op, left, right = sides(condition, body, self.columns, self.schema)
            self.slots += 2
            return Compared(inner, number, op, left, right)
        term, values = related(condition, body, self.columns, self.schema)
        self.slots += len(values)
        return Related(inner, number, term, values, condition_text(condition))


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


# ---------------------------------------------------------------- how matches end


def last_labels(formula: cel.Formula) -> frozenset[Label]:
    """The labels that the last event of a match may carry (an over-approximation)."""
    match formula:
        case cel.Type(name):
            return frozenset({frozenset({name})})
        case cel.Not():
            return frozenset({frozenset()})
        case cel.As(body, variable):
            return frozenset(label | {variable} if label else label for label in last_labels(body))
        case cel.Project(names, body):
            return frozenset(label & names for label in last_labels(body))
        case cel.Or(left, right) | cel.All(left, right):
            return last_labels(left) | last_labels(right)
        case cel.And(left, right):
            return min(last_labels(left), last_labels(right), key=lambda x: frozenset() in x)
        case cel.Sequence(_, right) | cel.ContiguousSequence(_, right):
            return last_labels(right)
        case cel.Unless(left, _):
            return last_labels(left)
    (body,) = formula.children()
    return last_labels(body)


def ends_marked(formula: cel.Formula) -> bool:
    """Whether the last event that every match reads belongs to it (no trailing NOT or PROJECT)."""
    return all(map(marks, last_labels(formula)))
