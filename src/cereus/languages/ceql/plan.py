"""CEQL → Plan: with registers where they can decide every condition between events."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.automata.memory.compare import CannotRegister
from cereus.automata.model import Automaton
from cereus.clauses.tree import AttributeWindow, Node, Strategy
from cereus.errors import RefusedError, UnknownNameError, did_you_mean
from cereus.expr.check import check, coerce
from cereus.expr.functions import Kind
from cereus.expr.tree import Attribute, Expression
from cereus.languages.ceql import scope
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.lower import CHOSEN, SELECTIONS, Lowering, ends_marked, select
from cereus.languages.ceql.narrow import narrow_filters
from cereus.languages.ceql.rewrite import RULES as LOCAL_RULES
from cereus.languages.ceql.rewrite import Rule, bottom_up, rewrite
from cereus.plan.plan import NO_SCHEMA, ChosenBy, Plan
from cereus.plan.tests import TestSet
from cereus.stream import Stream

RULES: tuple[Rule, ...] = (*LOCAL_RULES, narrow_filters)
"""All rewrite rules, in the order they are applied."""


def build(
    query: cel.CeqlTree,
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
    query: cel.CeqlTree, formula: cel.Formula, stream: Stream, schema: pa.Schema | None
) -> tuple[Lowering, Automaton, str | None]:
    """With registers where they can decide every condition between events; else without, and
    why."""
    names = _stream_names(query, stream)
    why = CHOSEN
    if schema is None:
        why = NO_SCHEMA
    elif query.strategy is not Strategy.MAX:
        lowering = Lowering(TestSet(), *names, schema=schema)
        try:
            return lowering, lowering.automaton(formula), None
        except CannotRegister as reason:
            why = str(reason)
    lowering = Lowering(TestSet(), *names)
    return lowering, lowering.automaton(formula), why


def _check_count(query: cel.CeqlTree) -> None:
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
    query: cel.CeqlTree, stream: Stream
) -> tuple[tuple[str, ...], str | None, str | None, bool]:
    """The streams to tell apart, or the only one there is; their column; whether more may come."""
    if stream.stream is None:
        return (), query.streams[0] if len(query.streams) == 1 else None, None, False
    streams = query.streams or tuple(sorted(_mentioned_streams(query)))
    return streams, None, stream.stream, not query.streams


def _mentioned_streams(query: cel.CeqlTree) -> set[str]:
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


def _check_streams(query: cel.CeqlTree, stream: Stream) -> None:
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


# ---------------------------------------------------------------- checking against a schema


def checked(query: cel.CeqlTree, stream: Stream, schema: pa.Schema) -> cel.CeqlTree:
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
    if isinstance(query.window, AttributeWindow):
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
    query: cel.CeqlTree,
    what: str,
    node: Node | None = None,
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
