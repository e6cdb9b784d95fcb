"""The values of SASE+ terms on many matches at once: one value per match, as an Arrow array.

In addition to what every language has (`engine.results.values`) there are series, tuples, elements
of a Kleene variable, ranked values and aggregates of the user's own. The values are those of the
reference evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa

from cereus.engine.ingest.clock import python_values
from cereus.engine.results.aggregates import Ints, cut, without_nulls
from cereus.engine.results.values import MatchValues, NewColumn, VariableEvents, lists
from cereus.errors import found_while_matching
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase

Aggregates = Mapping[str, sase.UserAggregate]
Choices = list[tuple[ex.Expression, tuple[ex.Expression, ...]]]


class Values(MatchValues):
    """Computes terms on the matches of one chunk; `variables` are the events that they hold."""

    def __init__(
        self,
        events: pa.Table,
        variables: Mapping[str, VariableEvents],
        matches: int,
        aggregates: Aggregates,
    ) -> None:
        super().__init__(events, variables, matches)
        self.aggregates = aggregates

    def _value(self, expression: ex.Expression, kind: pa.DataType) -> pa.Array:
        match expression:
            case sase.Series(variable, path):
                events = self.variables[variable]
                return lists(events.offsets, self.read(path, events.places))
            case sase.Record(variable, paths, at):
                return self._structs(paths, self._one(variable, at or sase.Index.FIRST))
            case sase.Records(variable, paths):
                events = self.variables[variable]
                return lists(events.offsets, self._structs(paths, events.places))
        return super()._value(expression, kind)

    # ------------------------------------------------------------ events

    def _structs(self, paths: tuple[sase.Path, ...], places: Ints | pa.Array) -> pa.Array:
        columns = [self.read(path, places) for path in paths]
        return pa.StructArray.from_arrays(columns, [path[-1] for path in paths])

    def _one(self, variable: str, at: sase.Index) -> pa.Array:
        events = self.variables[variable]
        return events.first if at is sase.Index.FIRST else events.last

    # ------------------------------------------------------------ what is made of them

    def _special(
        self, node: ex.Expression, column: NewColumn, visit: ex.Rewrite
    ) -> ex.Expression | None:
        if isinstance(node, ex.Comparison) and any(map(_ranked, (node.left, node.right))):
            return self._any_of(node, column, visit)
        return None

    def _any_of(self, node: ex.Comparison, column: NewColumn, visit: ex.Rewrite) -> ex.Expression:
        """A comparison with the k highest values is true if it is true for one of them (§5); for
        missing ones, it is false."""

        def side(operand: ex.Expression) -> Choices:
            choices: Choices = []
            if not isinstance(operand, sase.Aggregate) or operand.k is None:
                return [(visit(operand), ())]
            best = list(self._ranked(operand))
            for place in range(operand.k):
                there = column(pa.array([len(values) > place for values in best], pa.bool_()))
                each = [values[place] if len(values) > place else None for values in best]
                choices.append((column(pa.array(each)), (there,)))
            return choices

        return ex.Or(
            tuple(
                ex.And((*first, *second, ex.Comparison(node.op, left, right)))
                for left, first in side(node.left)
                for right, second in side(node.right)
            )
        )

    def _leaf(self, node: ex.Attribute | ex.Aggregate, kind: pa.DataType | None) -> pa.Array:
        if isinstance(node, sase.Item):
            return self.read(node.path, self._one(str(node.variable), node.at))
        if isinstance(node, sase.Aggregate) and node.function in self.aggregates:
            return self._user_defined(node, kind)
        if isinstance(node, sase.Aggregate) and node.k is not None:
            return pa.array(list(self._ranked(node)), kind)
        return super()._leaf(node, kind)

    # ------------------------------------------------------------ aggregates

    def _lists(self, node: sase.Aggregate) -> Iterator[list[Any]]:
        """The values that an aggregate combines, as Python values, match by match."""
        events, path = self.variables[node.variable], node.attribute or ()
        values, offsets = without_nulls(self.read(path, events.places), events.offsets)
        return cut(python_values(values, path), offsets)

    def _ranked(self, node: sase.Aggregate) -> Iterator[list[Any]]:
        assert node.k is not None
        return (sase.ranked(values, node.function, node.k) for values in self._lists(node))

    def _user_defined(self, node: sase.Aggregate, kind: pa.DataType | None) -> pa.Array:
        aggregate = self.aggregates[node.function]
        combined = [
            reduce(aggregate.combine, values, aggregate.identity) for values in self._lists(node)
        ]
        try:
            return pa.array(combined, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise found_while_matching(
                f"{node.function} gives values that are not of the type {kind}: {error}",
                hint="an aggregate of your own has the type of the attribute that it combines",
            ) from None


def _ranked(node: ex.Expression) -> bool:
    return isinstance(node, sase.Aggregate) and node.k is not None
