"""Turns windows of a part of a pattern, and gaps, into conditions between two events."""

from __future__ import annotations

import math
from datetime import timedelta

import pyarrow as pa

from cereus.automata.memory.distance import BEFORE, NOW
from cereus.clauses.tree import AttributeWindow, TimeWindow
from cereus.errors import CereusError, RefusedError
from cereus.expr import tree as ex
from cereus.expr.paths import type_at
from cereus.languages.ceql import tree as cel
from cereus.stream import Stream
from cereus.syntax.tree import Node


def measured_path(node: Node, stream: Stream) -> tuple[str, ...]:
    """The column that a distance is measured on."""
    if isinstance(node, AttributeWindow):
        return node.attribute
    if stream.time is None:
        raise RefusedError(
            "a window of a part of a pattern, and a gap, need a time column",
            span=node.span,
            hint='say which one it is: Stream(time="…")',
        )
    return (stream.time,)


def condition(
    node: TimeWindow | AttributeWindow | cel.GapLength, stream: Stream, schema: pa.Schema | None
) -> ex.Expression:
    """The condition that the event at hand is within this distance of the one before."""
    path = measured_path(node, stream)
    distance = ex.Arithmetic("-", ex.Attribute(path, NOW), ex.Attribute(path, BEFORE))
    kind = None if schema is None else type_at(schema, path)
    match node:
        case AttributeWindow(size, _):
            return ex.Comparison("<=", distance, ex.Literal(size))
        case TimeWindow(microseconds):
            return ex.Comparison("<=", distance, _length(microseconds, kind, stream, node))
    bounds = [
        ex.Comparison(op, distance, _length(bound, kind, stream, node, up=op == ">="))
        for op, bound in ((">=", node.least), ("<=", node.most))
        if bound is not None
    ]
    return bounds[0] if len(bounds) == 1 else ex.And(tuple(bounds))


def _length(
    microseconds: int, kind: pa.DataType | None, stream: Stream, node: Node, *, up: bool = False
) -> ex.Literal:
    """A length of time in the units of the time column."""
    numbers = kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if not numbers:
        return ex.Literal(timedelta(microseconds=microseconds))
    try:
        length = microseconds / stream.need_unit()
    except CereusError as error:
        raise RefusedError(error.message, span=node.span, hint=error.hint) from None
    if pa.types.is_floating(kind):
        return ex.Literal(length)
    return ex.Literal(math.ceil(length) if up else math.floor(length))
