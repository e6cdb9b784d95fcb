"""The Plan: all that is needed to run a query anywhere. Immutable, picklable, versioned."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa

from cereus.automata.automaton import Automaton, Label, marks
from cereus.automata.selection import BEGINS_UNSEEN, Named
from cereus.errors import QueryError, RefusedError, UnknownNameError, did_you_mean
from cereus.lang import cel, scope
from cereus.lang.check import check, coerce
from cereus.lang.expression import Attribute, Expression, attributes
from cereus.lang.functions import Kind
from cereus.plan.binding import surely_bound
from cereus.plan.compare import CannotRegister, Column
from cereus.plan.lower import CHOSEN, SELECTIONS, Lowering, ends_marked, select
from cereus.plan.narrow import narrow_filters
from cereus.plan.rewrite import RULES as LOCAL_RULES
from cereus.plan.rewrite import Rule, bottom_up, rewrite
from cereus.plan.stream import Stream
from cereus.plan.tests import EventTest, TestSet

RULES: tuple[Rule, ...] = (*LOCAL_RULES, narrow_filters)
"""All rewrite rules, in the order they are applied."""

PLAN_VERSION = 3
"""Raised whenever a snapshot taken with an older plan could be misread."""

NO_SCHEMA = "the types of the columns are not known yet"


class ChosenBy(Enum):
    """Who decides what a strategy at the top of a query keeps."""

    AUTOMATON = "the automaton"
    KERNEL = "the kernel, among the partial matches that it holds"
    REPLAY = "the strategy's automaton, which reads the events of the window once more"
    LISTING = "a comparison of all matches of an event"


class Total(NamedTuple):
    """A total over all matches, of an attribute's values, or (`ones`) of how many there are."""

    kind: str
    variable: str
    attribute: tuple[str, ...]
    ones: bool


@dataclass(frozen=True)
class Plan:
    """A query made ready to run.

    tests      what is asked of every event; the answers are the letters of the automaton
    automaton  recognises the matches; labels are what is shown of them
    compared   the attributes that conditions between events read
    columns_compared  with registers: the columns whose values they hold
    slots      the most values that a partial match may have to remember
    why_values  where states remember values: why registers are not used
    """

    query: cel.Query
    stream: Stream
    tests: tuple[EventTest, ...]
    automaton: Automaton
    compared: frozenset[tuple[str, ...]] = frozenset()
    columns_compared: tuple[Column, ...] = ()
    why_values: str | None = None
    slots: int = 0
    dialect: str = "ceql"
    version: int = PLAN_VERSION

    @property
    def text(self) -> str:
        return self.query.text or repr(self.query.formula)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's state means: same fingerprint, same states and tests."""
        said = repr((self.version, _said(self.query), self.stream))
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the columns that split the stream."""
        own = tuple((key,) for key in self.stream.keys)
        return own + tuple(path for path in self.query.partition_by if path not in own)

    @property
    def registers(self) -> bool:
        """Whether the automaton remembers values in registers."""
        return self.slots > 0

    @property
    def remembers_values(self) -> bool:
        """Whether the automaton's states remember values (what registers cannot decide)."""
        return self.correlated and not self.registers

    @property
    def correlated(self) -> bool:
        """Whether there are conditions between events (`count(a) > 3` reads no attribute)."""
        return bool(self.compared) or self.why_values is not None

    @cached_property
    def open_ended(self) -> bool:
        """Whether a match may be reported at a later event than its last one."""
        return not ends_marked(self.query.formula)

    @cached_property
    def chosen_by(self) -> ChosenBy:
        """Which matches a window has kept changes as it moves, so that no automaton can choose
        among them from the past alone; nor has it room for the values of other runs."""
        windowed = self.query.window is not None
        if self.query.strategy not in SELECTIONS:
            return ChosenBy.AUTOMATON
        if windowed and self.open_ended:
            return ChosenBy.LISTING
        if self.query.strategy is cel.Strategy.MAX:
            return ChosenBy.REPLAY if windowed else ChosenBy.AUTOMATON
        return ChosenBy.KERNEL if windowed or self.registers else ChosenBy.AUTOMATON

    @property
    def chosen_late(self) -> bool:
        """Whether the kernel finds more than the strategy keeps."""
        return self.chosen_by in (ChosenBy.REPLAY, ChosenBy.LISTING)

    @property
    def closes(self) -> bool:
        """Whether matches may be complete because their window has passed, or the input ended."""
        return False

    @property
    def late(self) -> bool:
        """Whether a match may be told later than its own time is read."""
        return self.open_ended or self.closes

    @property
    def keys_sleep(self) -> bool:
        """Whether an event that begins nothing may be left out while its key has nothing begun: not
        where places count, or a match is told, chosen or consumed by what comes elsewhere."""
        together = self.query.consume is cel.Consume.ANY
        apart = bool(self.keys) and not self.position_sensitive
        later = self.late or self.chosen_late
        return apart and not (later or together or self.remembers_values)

    @property
    def looks_ahead(self) -> bool:
        """Whether an event may be left out because no match can have it: where a match is complete
        at its last event, inside a window of time, and no event counts but for its looks."""
        windowed = self.query.window is not None and not self.position_sensitive
        later = self.late or self.chosen_late or self.detects
        return windowed and not self.keys and not later and not self.remembers_values

    @property
    def ends_at_marks(self) -> bool:
        """Whether a match ends at the last event that it has, wherever it is reported."""
        return False

    @property
    def hides(self) -> bool:
        """Whether marked events of which nothing is selected are still part of what is found."""
        compared = self.open_ended or self.registers or self.chosen_by is ChosenBy.KERNEL
        return self.names is not None and compared

    @property
    def detects(self) -> bool:
        """Whether only the events are asked for that end a match."""
        return False

    @property
    def limit(self) -> int | None:
        """The most results that one event may have."""
        return self.query.limit

    @property
    def labelled(self) -> bool:
        """Whether the kernel has to say what each event of a match is marked with, because some
        are not shown."""
        return self.names is not None

    @property
    def limited_late(self) -> bool:
        """Whether LIMIT has to wait until rows that are found several ways are one."""
        return self.limit is not None and (self.hides or self.registers)

    @cached_property
    def consumes_late(self) -> bool:
        """Whether it takes the strategy's choice to know that an event has output to consume:
        what it chooses may show nothing of the selected variables."""
        if self.query.consume is cel.Consume.NONE or self.names is None or not self.chosen_late:
            return False
        return surely_bound(self.query.formula).isdisjoint(self.names)

    @cached_property
    def position_sensitive(self) -> bool:
        """Whether events that satisfy no test still count, because their places do."""
        return (
            isinstance(self.query.window, cel.EventWindow)
            or self.query.strategy is cel.Strategy.STRICT
            or any(map(_looks_at_places, self.query.formula.walk()))
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The selected variables, or None for `SELECT *`."""
        if self.query.select is None:
            return None
        return tuple(output.variable for output in self.query.select)

    @cached_property
    def columns(self) -> frozenset[tuple[str, ...]]:
        """The paths of all columns that the plan reads (without those only shown)."""
        found = {path for test in self.tests for c in test.conditions for path in attributes(c)}
        found.update(self.keys)
        found.update(self.compared)
        found.update(total.attribute for total in self.query.totals if total.attribute)
        own = (self.stream.type, self.stream.time, self.stream.stream)
        found.update((name,) for name in own if name is not None)
        if isinstance(self.query.window, cel.AttributeWindow):
            found.add(self.query.window.attribute)
        return frozenset(found)

    @cached_property
    def totals(self) -> tuple[Total, ...]:
        """The totals that are kept while counting; an average is a sum and a number of values."""
        found: dict[Total, None] = {}
        for node in self.query.totals:
            if node.function == "avg":
                found[Total("sum", node.variable, node.attribute or (), False)] = None
                found[Total("sum", node.variable, node.attribute or (), True)] = None
            else:
                found[Total(node.function, node.variable, node.attribute or (), False)] = None
        return tuple(found)

    def shown(self, automaton: Automaton) -> Automaton:
        """The automaton with what is not selected made invisible."""
        if self.names is None or self.hides:
            return automaton
        return Named(automaton, frozenset(self.names))

    def label(self, label: Label) -> Label | None:
        """What is shown of a marked event: None if it is not marked, BEGINS_UNSEEN or names."""
        if label == BEGINS_UNSEEN:
            return label
        if not marks(label):
            return None
        if self.query.totals:
            return frozenset({""}) | (label & {total.variable for total in self.query.totals})
        return frozenset({""}) if self.names is None else label & frozenset(self.names)


def _said(value: object) -> object:
    """A tree in words that are the same in every process, as the order in a set is not."""
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, tuple):
        return [_said(part) for part in value]
    if is_dataclass(value):
        parts = [_said(getattr(value, each.name)) for each in fields(value) if each.compare]
        return [type(value).__name__, *parts]
    return repr(value)


def build(
    query: cel.Query,
    stream: Stream,
    schema: pa.Schema | None = None,
    rules: tuple[Rule, ...] = RULES,
) -> Plan:
    """Make a plan; with a schema, every name and type in the query is checked against it."""
    _check_streams(query, stream)
    _check_count(query)
    if schema is not None:
        query = checked(query, stream, schema)
    formula = rewrite(query.formula, rules)
    lowering, base, why = _lowered(query, formula, stream, schema)
    plan = Plan(
        query,
        stream,
        lowering.tests.tests,
        base,
        frozenset(lowering.compared),
        tuple(lowering.columns.numbers),
        why if lowering.comparisons else None,
        lowering.slots,
    )
    if plan.chosen_by is ChosenBy.AUTOMATON:
        plan = replace(plan, automaton=plan.shown(select(query.strategy, base)))
    return plan


def _lowered(
    query: cel.Query, formula: cel.Formula, stream: Stream, schema: pa.Schema | None
) -> tuple[Lowering, Automaton, str | None]:
    """With registers where they can decide every condition between events; else without, and
    why."""
    names = _stream_names(query, stream)
    why = CHOSEN
    if schema is None:
        why = NO_SCHEMA
    elif query.strategy is not cel.Strategy.MAX:
        lowering = Lowering(TestSet(), *names, schema=schema)
        try:
            return lowering, lowering.automaton(formula), None
        except CannotRegister as reason:
            why = str(reason)
    lowering = Lowering(TestSet(), *names)
    return lowering, lowering.automaton(formula), why


def _check_count(query: cel.Query) -> None:
    """What can be counted without listing: all matches, each reported at its own last event."""
    if query.count and (
        query.strategy in SELECTIONS
        or (query.window is not None and not ends_marked(query.formula))
    ):
        raise RefusedError(
            "COUNT(*) under NEXT, LAST, MAX or ANY, or of matches that end before the event they "
            "are reported at, would have to list them",
            text=query.text,
            span=query.span,
            hint="SELECT * and count the rows: len(q.run(…))",
        )


def _stream_names(
    query: cel.Query, stream: Stream
) -> tuple[tuple[str, ...], str | None, str | None, bool]:
    """The streams to tell apart, or the only one there is; their column; whether more may come."""
    if stream.stream is None:
        return (), query.streams[0] if len(query.streams) == 1 else None, None, False
    streams = query.streams or tuple(sorted(_mentioned_streams(query)))
    return streams, None, stream.stream, not query.streams


def _mentioned_streams(query: cel.Query) -> set[str]:
    """The streams that a type `S>R`, a filter, a projection or the output names."""
    names = [output.variable for output in query.select or ()]
    streams = []
    for node in query.formula.walk():
        if isinstance(node, cel.Type):
            streams.append(node.stream or "")
        elif isinstance(node, cel.Filter):
            names.extend(name for name, _ in scope.mentioned(node.predicate))
        elif isinstance(node, cel.Project):
            names.extend(node.variables)
    streams.extend(name.rpartition(">")[0] for name in names)
    return set(streams) - {""}


def _check_streams(query: cel.Query, stream: Stream) -> None:
    """A type with a stream, `S>R`, needs that stream to be read and to be known."""
    for node in query.formula.walk():
        if not isinstance(node, cel.Type) or node.stream is None:
            continue
        if query.streams and node.stream not in query.streams:
            raise UnknownNameError(
                f"the stream {node.stream!r} is not in FROM",
                text=query.text,
                span=node.span,
                hint=did_you_mean(node.stream, query.streams),
            )
        if stream.stream is None and query.streams != (node.stream,):
            raise RefusedError(
                f"{node.stream}>{node.name} asks which stream an event came on",
                text=query.text,
                span=node.span,
                hint='say which column tells it: Stream(stream="…"), or run on {"name": table, …}',
            )


def _looks_at_places(node: cel.Formula) -> bool:
    if isinstance(node, cel.Select):
        return node.strategy is cel.Strategy.STRICT
    return isinstance(node, cel.ContiguousSequence | cel.ContiguousIteration | cel.Start | cel.All)


# ---------------------------------------------------------------- checking against a schema


def checked(query: cel.Query, stream: Stream, schema: pa.Schema) -> cel.Query:
    """The query with every condition checked, and its literals made to fit the columns."""

    def condition(expression: Expression) -> Expression:
        check(expression, schema, query.text)
        return coerce(expression, schema)

    def predicate(node: cel.Predicate) -> cel.Predicate:
        if isinstance(node, cel.Holds):
            return replace(node, condition=condition(node.condition))
        assert isinstance(node, cel.AllOf | cel.AnyOf)
        return replace(node, operands=tuple(map(predicate, node.operands)))

    def formula(node: cel.Formula) -> cel.Formula:
        if isinstance(node, cel.Filter):
            return replace(node, predicate=predicate(node.predicate))
        return node

    for name in (stream.type, stream.time, stream.stream, *stream.keys):
        _require((name,) if name else (), schema, query, "the stream's column")
    for path in query.partition_by:
        _require(path, schema, query, "the PARTITION BY column")
    if isinstance(query.window, cel.AttributeWindow):
        _require(query.window.attribute, schema, query, "the window's attribute")
    for output in query.select or ():
        for path in output.attributes:
            _require(path, schema, query, "the selected attribute", output)
    for total in query.totals:
        check(Attribute(total.attribute or (), span=total.span), schema, query.text, Kind.NUMBER)
    return replace(query, formula=bottom_up(query.formula, formula))


def _require(
    path: tuple[str, ...],
    schema: pa.Schema,
    query: cel.Query,
    what: str,
    node: cel.Node | None = None,
) -> None:
    if not path:
        return
    known = schema.names
    kind: pa.DataType | None = None
    for step in path:
        if step not in known:
            raise UnknownNameError(
                f"{what} {'.'.join(path)!r} is not in the events",
                text=query.text if node is not None else None,
                span=node.span if node is not None else None,
                hint=did_you_mean(step, known),
            )
        kind = schema.field(step).type if kind is None else kind.field(step).type
        known = [f.name for f in kind] if pa.types.is_struct(kind) else []


__all__ = ["PLAN_VERSION", "Plan", "QueryError", "build", "checked"]
