"""The values of SASE+ terms (A.1) on a match buffer: the events selected for each variable.

`a[i]` is always the event selected last: an edge first puts the event at hand into the buffer and
then evaluates its condition, as the begin and take moves of A.2 do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Any

from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.reference import cel
from cereus.reference.conditions import Event, compare, meaning, read, some

Buffer = Mapping[str, Sequence[Event]]
Aggregates = Mapping[str, sase.UserAggregate]


def holds(condition: ex.Expression, buffer: Buffer, aggregates: Aggregates) -> bool:
    """Whether a condition is true for the buffer; NULL is not true."""
    return value(condition, buffer, aggregates) is True


def value(expression: ex.Expression, buffer: Buffer, aggregates: Aggregates) -> Any:
    """The value of a term, a condition, or a value in RETURN."""
    match expression:
        case sase.Series(variable, path):
            return [read(event, path) for event in buffer[variable]]
        case sase.Record(variable, paths, at):
            return _record(_element(buffer[variable], at or sase.Index.FIRST), paths)
        case sase.Records(variable, paths):
            return [_record(event, paths) for event in buffer[variable]]
        case sase.Aggregate(k=int()):
            return _aggregate(expression, buffer, aggregates)
    return meaning(expression, lambda node: _given(node, buffer, aggregates))


Identifier = ex.Attribute | sase.Aggregate


def _given(node: ex.Expression, buffer: Buffer, aggregates: Aggregates) -> Any:
    """The values that the buffer gives: of identifiers, and of comparisons with the k highest,
    which are true if one of these makes them true (§5)."""
    if isinstance(node, Identifier):
        return _read(node, buffer, aggregates)
    if not isinstance(node, ex.Comparison) or not any(map(_is_list, (node.left, node.right))):
        return NotImplemented
    left, right = (
        given if _is_list(side) else [given]
        for side in (node.left, node.right)
        for given in [value(side, buffer, aggregates)]
    )
    return some(compare(node.op, one, other) for one, other in product(left, right))


def _is_list(node: ex.Expression) -> bool:
    return isinstance(node, sase.Aggregate) and node.k is not None


def _read(node: Identifier, buffer: Buffer, aggregates: Aggregates) -> Any:
    """The value of an identifier on a buffer."""
    if isinstance(node, sase.Aggregate):
        return _aggregate(node, buffer, aggregates)
    at = node.at if isinstance(node, sase.Item) else sase.Index.FIRST
    return read(_element(buffer[str(node.variable)], at), node.path)


def _element(events: Sequence[Event], at: sase.Index) -> Event:
    places = {sase.Index.FIRST: 0, sase.Index.PREVIOUS: -2}
    return events[places.get(at, -1)]


def _record(event: Event, paths: tuple[sase.Path, ...]) -> dict[str, Any]:
    return {path[-1]: read(event, path) for path in paths}


def _aggregate(node: sase.Aggregate, buffer: Buffer, aggregates: Aggregates) -> Any:
    """The value of an aggregate, without nulls, as in SQL, except for first and last."""
    events = buffer[node.variable]
    events = events[:-1] if node.running else events
    if node.function in aggregates:
        aggregate = aggregates[node.function]
        combine: Callable[[Any, Any], Any] = aggregate.combine
        return reduce(combine, _values(node, events), aggregate.identity)
    if node.k is not None:
        return sase.ranked(_values(node, events), node.function, node.k)
    return cel.aggregate(node, events)


def _values(node: sase.Aggregate, events: Sequence[Event]) -> list[Any]:
    every = (read(event, node.attribute or ()) for event in events)
    return [each for each in every if each is not None]
