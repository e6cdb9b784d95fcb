"""Tests of single events, where a query distinguishes the streams that they come on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cereus.automata.model import Label
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.expr.tree import Expression, conjuncts, variables, without_variable
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_correlated, is_own, of_this
from cereus.languages.ceql.order import ANY_TYPE
from cereus.languages.ceql.predicates import alternatives, as_condition, mentioned
from cereus.plan.tests import EventTest
from cereus.stream import Stream


class Streams(NamedTuple):
    """The streams that a formula distinguishes, or the only one there is, and their column.

    `names` is empty when events carry no stream, or the query does not depend on it. Without
    a FROM, there may be `others`, streams that the query does not mention.
    """

    names: tuple[str, ...] = ()
    only: str | None = None
    column: str | None = None
    others: bool = False

    @classmethod
    def of(cls, query: cel.CeqlTree, stream: Stream) -> Streams:
        if stream.stream is None:
            return cls(only=query.streams[0] if len(query.streams) == 1 else None)
        names = query.streams or tuple(sorted(_mentioned_streams(query)))
        return cls(names, column=stream.stream, others=not query.streams)

    def tests(
        self, node: cel.Type, filters: tuple[Expression, ...]
    ) -> Iterator[tuple[EventTest, Label]]:
        """A test for each stream on which events of a type come, and the variables that mark them.
        Filters on these variables become part of the test."""
        for stream, label, conditions in self._kinds(node):
            tested = (without_variable(each) for each in filters if variables(each) <= label)
            yield EventTest(_type_of(node), stream, (*conditions, *tested)), label

    def _kinds(self, node: cel.Type) -> Iterator[tuple[str | None, Label, tuple[Expression, ...]]]:
        """The streams of a type; None with conditions that tell its stream, or with none."""
        if not self.names:
            only = () if self.only is None else (f"{self.only}>{node.name}",)
            yield None, frozenset((node.name, *only)), ()
            return
        for stream in self.names:
            if node.stream in (None, stream):
                yield stream, frozenset((node.name, f"{stream}>{node.name}")), ()
        if self.others and node.stream is None:
            yield None, frozenset((node.name,)), (self._not_from(self.names),)

    def excluded(self, event: cel.Excluded) -> Iterator[tuple[EventTest, tuple[Expression, ...]]]:
        """Tests of what must not occur, each with the conditions that read other events."""
        kind = _type_of(event.event)
        stream = event.event.stream if self.names else None
        if event.predicate is None:
            yield EventTest(kind, stream), ()
        elif not is_correlated(event):
            yield (
                EventTest(kind, stream, conjuncts(as_condition(event.predicate, self.condition))),
                (),
            )
        else:
            for every in alternatives(event.predicate):
                alone = [c for c in every if all(is_own(event, name) for name in variables(c))]
                between = tuple(of_this(event, c) for c in every if c not in alone)
                tested = tuple(map(self.condition, alone))
                yield EventTest(kind, stream, tested), between

    def negated(self, body: cel.Formula) -> EventTest:
        """The test for an event that is not such as `body` describes."""
        conditions: list[Expression] = []
        node = body
        while not isinstance(node, cel.Type):
            if isinstance(node, cel.Filter):
                conditions.append(as_condition(node.predicate, self.condition))
                node = node.body
            else:
                assert isinstance(node, cel.As)  # as names were checked
                node = node.body
        return EventTest(
            _type_of(node),
            node.stream if self.names else None,
            tuple(conditions),
            negated=True,
        )

    def condition(self, condition: Expression) -> Expression:
        """The condition of `S>R[…]` on an event; it is true for events of other streams."""
        named = {variable.rpartition(">")[0] for variable in variables(condition)}
        streams = sorted(named - {"", self.only})
        if not streams:
            return without_variable(condition)
        if not self.names:
            return ex.Literal(True)
        elsewhere = [self._not_from((stream,)) for stream in streams]
        return ex.Or((*elsewhere, without_variable(condition)))

    def _not_from(self, streams: tuple[str, ...]) -> Expression:
        """The condition that an event came on none of these streams."""
        assert self.column is not None
        column = ex.Attribute((self.column,))
        return ex.Or((ex.IsNull(column), ex.Not(ex.In(column, tuple(map(ex.Literal, streams))))))


def _type_of(node: cel.Type) -> str | None:
    """The type that events must have; None if any will do."""
    return None if node.name == ANY_TYPE else node.name


def _mentioned_streams(query: cel.CeqlTree) -> set[str]:
    """The streams that a type `S>R`, a filter, a projection or the output names."""
    names = [output.variable for output in query.select or ()]
    streams = [node.stream or "" for node in cel.types(query.formula)]
    for node in query.formula.walk():
        if isinstance(node, cel.Filter):
            names.extend(name for name, _ in mentioned(node.predicate))
        elif isinstance(node, cel.Without):
            filters = [each.predicate for each in node.events if each.predicate is not None]
            names.extend(name for each in filters for name, _ in mentioned(each))
        elif isinstance(node, cel.Project):
            names.extend(node.variables)
    streams.extend(name.rpartition(">")[0] for name in names)
    return set(streams) - {""}


def check_streams(query: cel.CeqlTree, stream: Stream) -> None:
    """Check that the stream of a type `S>R` is read and known."""
    for node in cel.types(query.formula):
        if node.stream is None:
            continue
        if stream.stream is None and query.streams != (node.stream,):
            raise RefusedError(
                f"{node.stream}>{node.name} asks which stream an event came on",
                text=query.text,
                span=node.span,
                hint='say which column tells it: Stream(stream="…"), or run on {"name": table, …}',
            )
