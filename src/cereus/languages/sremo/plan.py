"""SREMO → Plan: registers in slots of the kernel where they can decide, else in states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from cereus.automata.memory.compare import CannotRegister
from cereus.clauses.tree import EventWindow
from cereus.errors import QueryError, UnknownNameError
from cereus.expr import tree as ex
from cereus.expr.check import check, coerce
from cereus.languages.ceql.plan import checked
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.automaton.streaming import Detecting, Streaming
from cereus.languages.sremo.lower import ByValue, Lowering, terminals
from cereus.languages.sremo.skippability import loose
from cereus.languages.sremo.slots import BySlot
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest
from cereus.stream import Stream
from cereus.syntax.parsing import located


@dataclass(frozen=True)
class SremoPlan(Plan):
    """The plan of a SREMO. `tight`: events that satisfy no test count by their places."""

    tight: bool = True
    why_values: str | None = None
    """Why states remember values, where slots cannot decide."""
    dialect: str = "sremo"

    @property
    def open_ended(self) -> bool:
        return False

    @property
    def detects(self) -> bool:
        pattern = self.query.formula
        return isinstance(pattern, sremo.Pattern) and pattern.detect

    @property
    def limit(self) -> int | None:
        """DETECT says once that matches end at an event."""
        own = self.query.limit
        return own if not self.detects else min(1, 1 if own is None else own)

    @property
    def limited_late(self) -> bool:
        return not self.detects and super().limited_late

    @property
    def labelled(self) -> bool:
        return self.detects

    @property
    def position_sensitive(self) -> bool:
        return self.tight or isinstance(self.query.window, EventWindow)


def build(query: sremo.SremoTree, stream: Stream, schema: pa.Schema | None = None) -> SremoPlan:
    """Make a plan; with a schema, every name and type in the query is checked against it."""
    if schema is not None:
        query = checked(query, stream, schema)
        query = replace(query, formula=_checked(query, schema))
    query = outermost_window(query)
    pattern = query.formula
    assert isinstance(pattern, sremo.Pattern)
    expression = sremo.balanced(sremo.rewritten(pattern.expression))
    try:
        lowering, automaton, why = _lowered(expression, stream, schema)
    except QueryError as error:
        raise located(error, query.text or "") from None
    columns = tuple(lowering.columns.numbers) if isinstance(lowering, BySlot) else ()
    return SremoPlan(
        query,
        stream,
        lowering.tests.tests or (EventTest(),),
        Detecting(automaton) if pattern.detect else automaton,
        compared=frozenset(lowering.compared),
        columns_compared=columns,
        tight=not loose(expression),
        slots=len(lowering.slots) if isinstance(lowering, BySlot) else 0,
        why_values=why,
    )


def _lowered(
    expression: sremo.Sremo, stream: Stream, schema: pa.Schema | None
) -> tuple[Lowering, Streaming, str | None]:
    """With slots where they can decide; else by values, and why."""
    why = None
    if any(node.reads for node in terminals(expression)):
        if schema is None:
            why = "the types of the columns are not known yet"
        else:
            by_slot = BySlot(stream, schema)
            try:
                return by_slot, by_slot.streaming(expression), None
            except CannotRegister as reason:
                why = str(reason)
    by_value = ByValue(stream, schema)
    return by_value, by_value.streaming(expression), why


def outermost_window(query: sremo.SremoTree) -> sremo.SremoTree:
    """`(e WITHIN w)` and `e[1..w]` around everything are the query's own window."""
    pattern = query.formula
    assert isinstance(pattern, sremo.Pattern)
    if query.window is None and isinstance(pattern.expression, sremo.Windowed):
        body, window = pattern.expression.body, pattern.expression.window
        return replace(query, formula=replace(pattern, expression=body), window=window)
    return query


def _checked(query: sremo.SremoTree, schema: pa.Schema) -> sremo.Pattern:
    """The pattern with every condition checked, and its literals made to fit the columns."""

    def visit(node: sremo.Sremo) -> sremo.Sremo:
        if not isinstance(node, sremo.Terminal):
            return node
        try:
            check(node.condition, schema, query.text)
        except UnknownNameError as error:
            raise _hinted(error, node.condition, schema) from None
        return replace(node, condition=coerce(node.condition, schema))

    pattern = query.formula
    assert isinstance(pattern, sremo.Pattern)
    return replace(pattern, expression=sremo.bottom_up(pattern.expression, visit))


def _hinted(
    error: UnknownNameError, condition: ex.Expression, schema: pa.Schema
) -> UnknownNameError:
    """`{SELL}` is meant as a type, and `{price > r.price}` reads a register."""
    unknown = [n for n in condition.walk() if isinstance(n, ex.Attribute) and n.span == error.span]
    name, *rest = unknown[0].path if unknown else ("",)
    hint = None
    if unknown and unknown[0] is condition:
        hint = f"an event of a type is written {{{name}:}}"
    elif rest and name not in schema.names:
        hint = f"no -> {name} writes a register of that name"
    said = [each for each in (hint, error.hint) if each is not None]
    return UnknownNameError(error.reason, text=error.text, span=error.span, hint="; ".join(said))
