"""SREMO → Plan: registers in slots of the kernel where they can decide, else in states."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cereus.automata.model import Automaton
from cereus.clauses.tree import EventWindow
from cereus.errors import QueryError, UnknownNameError
from cereus.expr import tree as ex
from cereus.expr.check import check, coerce
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.automaton.streaming import Detecting, Streaming
from cereus.languages.sremo.locality import looks_back
from cereus.languages.sremo.lower import RegistersInStates, terminals
from cereus.languages.sremo.skippability import loose
from cereus.languages.sremo.slots import RegistersInSlots, measures
from cereus.plan.checking import check_clauses
from cereus.plan.lowered import Lowered, slots_else_values
from cereus.plan.plan import Plan
from cereus.plan.traits import PatternFacts
from cereus.stream import Stream
from cereus.syntax.parsing import located
from cereus.syntax.tree import bottom_up


def build(query: sremo.SremoTree, stream: Stream, schema: pa.Schema | None = None) -> Plan:
    """Make a plan; with a schema, every name and type in the query is checked against it."""
    if schema is not None:
        check_clauses(query, stream, schema)
        query = replace(query, formula=_checked(query, schema))
    query = outermost_window(query)
    pattern = query.formula
    expression = sremo.balanced(sremo.rewritten(pattern.expression))
    try:
        lowered = _lowered(expression, stream, schema)
    except QueryError as error:
        raise located(error, query.text or "") from None
    facts = PatternFacts(
        detects=pattern.detect,
        position_sensitive=not loose(expression) or isinstance(query.window, EventWindow),
        looks_back=looks_back(expression),
    )
    made: Lowered[Automaton] = lowered
    if pattern.detect:
        made = replace(made, automaton=Detecting(lowered.automaton))
    return Plan.of(query, stream, made, facts)


def _lowered(
    expression: sremo.Sremo, stream: Stream, schema: pa.Schema | None
) -> Lowered[Streaming]:
    def by_values() -> Lowered[Streaming]:
        return RegistersInStates(stream, schema).lowered(expression)

    reads = any(node.reads for node in terminals(expression))
    if not reads and not any(map(measures, expression.walk())):
        return by_values()
    return slots_else_values(
        schema, lambda types: RegistersInSlots(stream, types).lowered(expression), by_values
    )


def outermost_window(query: sremo.SremoTree) -> sremo.SremoTree:
    """The query where `(e WITHIN w)` and `e[1..w]` around everything are the query's own window."""
    pattern = query.formula
    if query.window is None and isinstance(pattern.expression, sremo.Windowed):
        body, window = pattern.expression.body, pattern.expression.window
        return replace(query, formula=replace(pattern, expression=body), window=window)
    return query


def _checked(query: sremo.SremoTree, schema: pa.Schema) -> sremo.Pattern:
    """The pattern after a check of every condition, with literals that fit the columns."""

    def visit(node: sremo.Sremo) -> sremo.Sremo:
        if not isinstance(node, sremo.Terminal):
            return node
        try:
            check(node.condition, schema, query.text)
        except UnknownNameError as error:
            raise _hinted(error, node.condition, schema) from None
        return replace(node, condition=coerce(node.condition, schema))

    pattern = query.formula
    return replace(pattern, expression=bottom_up(pattern.expression, visit))


def _hinted(
    error: UnknownNameError, condition: ex.Expression, schema: pa.Schema
) -> UnknownNameError:
    """The error with a hint: `{SELL}` is meant as a type, and `{price > r.price}` reads a
    register."""
    unknown = [n for n in condition.walk() if isinstance(n, ex.Attribute) and n.span == error.span]
    name, *rest = unknown[0].path if unknown else ("",)
    hint = None
    if unknown and unknown[0] is condition:
        hint = f"an event of a type is written {{{name}:}}"
    elif rest and name not in schema.names:
        hint = f"no -> {name} writes a register of that name"
    hints = [each for each in (hint, error.hint) if each is not None]
    return UnknownNameError(error.reason, text=error.text, span=error.span, hint="; ".join(hints))
