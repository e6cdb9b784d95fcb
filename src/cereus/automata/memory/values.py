"""Conditions between events: an automaton whose states remember values.

`φ FILTER P(A, B, …)` for any P: a state is a state of φ together with what its variables hold, in
this scope, as far as P can tell (`Memory`). A scope begins with empty memories, so in
`(R ; S FILTER R.id = S.id)+` every iteration has its own, and a state that is left takes its memory
with it. Like every automaton here it is made on demand; that it has no end of states is no
hindrance, as a stream visits finitely many, and runs that agree on what decides are in one state.

A condition on the events themselves is checked when an event is marked, against all that is
remembered, so that hopeless runs die early. One with aggregates is decided where φ accepts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from cereus.automata.model import Automaton, Label, Letter, Move, State
from cereus.expr.tree import (
    Aggregate,
    Attribute,
    Comparison,
    Expression,
    Literal,
    rebuild,
    variables,
)
from cereus.reference.conditions import holds

Row = tuple[Any, ...]
"""The values that a condition reads of one event."""


class Seen(int):
    """A letter with the values of its event: `values[path]`. Letters without values are plain."""

    values: dict[tuple[str, ...], Any]

    @classmethod
    def of(cls, letter: Letter, values: dict[tuple[str, ...], Any]) -> Seen:
        seen = cls(letter)
        seen.values = values
        return seen


class Totals(NamedTuple):
    """What is kept of a variable for its aggregates, for one attribute."""

    known: int = 0
    sum: Any = None
    min: Any = None
    max: Any = None
    first: Any = None
    last: Any = None
    events: int = 0

    def plus(self, value: Any) -> Totals:
        first = value if self.events == 0 else self.first
        if value is None:
            return self._replace(first=first, last=None, events=self.events + 1)
        return Totals(
            self.known + 1,
            _sum(self.sum, value),
            _extreme(min, self.min, value),
            _extreme(max, self.max, value),
            first,
            value,
            self.events + 1,
        )

    def of(self, function: str) -> Any:
        if function == "avg":
            return None if self.sum is None else self.sum / self.known
        return self.known if function == "count" else getattr(self, function)


def _sum(so_far: Any, value: Any) -> Any:
    """Only numbers have a sum; times and texts are kept for min, max, first and last alone."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value if so_far is None else so_far + value


def _extreme(choose: Callable[[Any, Any], Any], so_far: Any, value: Any) -> Any:
    """NaN is passed over: it has no place in the order."""
    if value != value:
        return so_far
    return value if so_far is None else choose(so_far, value)


class Memory(NamedTuple):
    """What one variable holds, as far as the condition can tell: the rows that its attributes
    were read from, and the totals of its aggregated attributes."""

    rows: frozenset[Row] = frozenset()
    totals: tuple[Totals, ...] = ()


@dataclass(frozen=True)
class Correlated(Automaton):
    """`body FILTER condition`, true of every combination of events of its variables."""

    body: Automaton
    condition: Expression

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(variables(self.condition)))

    @cached_property
    def reads(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """Per variable, the attributes that the condition reads of its events."""
        return tuple(
            tuple(sorted({n.path for n in self._nodes(Attribute) if n.variable == name}))
            for name in self.names
        )

    @cached_property
    def aggregates(self) -> tuple[tuple[Aggregate, ...], ...]:
        """Per variable, its aggregates, one for each attribute."""
        return tuple(
            tuple({n.attribute: n for n in self._nodes(Aggregate) if n.variable == name}.values())
            for name in self.names
        )

    @cached_property
    def at_the_end(self) -> bool:
        return any(self.aggregates)

    @cached_property
    def _flat(self) -> Expression:
        """The condition with every attribute a single step, as rows are read."""
        return _flattened(self.condition)

    def _nodes(self, kind: type[Any]) -> Iterator[Any]:
        return (node for node in self.condition.walk() if isinstance(node, kind))

    # ------------------------------------------------------------ the automaton

    def initial(self) -> Iterable[State]:
        empty = tuple(Memory(totals=tuple(Totals() for _ in each)) for each in self.aggregates)
        return [(q, empty) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, memories = state
        for move in self.body.moves(inner, letter):
            after: tuple[Memory, ...] | None = memories
            if not move.label.isdisjoint(self.names):
                after = self._remember(memories, move.label, letter)
            if after is not None:
                yield move._replace(target=(move.target, after))

    def accepts(self, state: Any) -> bool:
        inner, memories = state
        if not self.body.accepts(inner):
            return False
        return not self.at_the_end or self._every(self._with_totals(memories), memories)

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[0])

    # ------------------------------------------------------------ memories

    def _remember(
        self, memories: tuple[Memory, ...], label: Label, letter: Letter
    ) -> tuple[Memory, ...] | None:
        """Memories with the marked event added; None if a combination with it fails."""
        assert isinstance(letter, Seen), "an event that is marked has its values with it"
        after: list[Memory] = []
        fresh: list[frozenset[Row]] = []
        for place, (name, memory) in enumerate(zip(self.names, memories, strict=True)):
            if name not in label:
                after.append(memory)
                fresh.append(frozenset())
                continue
            row = tuple(_plain(letter.values[path]) for path in self.reads[place])
            fresh.append(frozenset({row}))
            totals = tuple(
                total.plus(None if node.attribute is None else letter.values[node.attribute])
                for total, node in zip(memory.totals, self.aggregates[place], strict=True)
            )
            after.append(
                Memory(memory.rows | fresh[-1] if self.reads[place] else memory.rows, totals)
            )
        if not self.at_the_end and not self._fits(after, fresh):
            return None
        return tuple(self._condensed(place, memory) for place, memory in enumerate(after))

    def _fits(self, after: list[Memory], fresh: list[frozenset[Row]]) -> bool:
        """Whether the condition is true of every combination that the new event is part of."""
        for place, rows in enumerate(fresh):
            if rows:
                parts = [rows if p == place else memory.rows for p, memory in enumerate(after)]
                if not self._all(self._flat, parts):
                    return False
        return True

    def _every(self, condition: Expression, memories: tuple[Memory, ...]) -> bool:
        parts = [
            memory.rows if reads else frozenset({()})
            for memory, reads in zip(memories, self.reads, strict=True)
        ]
        return self._all(condition, parts)

    def _all(self, condition: Expression, parts: list[frozenset[Row]]) -> bool:
        return all(holds(condition, {}, self._bound(rows)) for rows in product(*parts))

    def _bound(self, rows: tuple[Row, ...]) -> dict[str, dict[str, Any]]:
        return {
            name: {".".join(path): value for path, value in zip(paths, row, strict=True)}
            for name, paths, row in zip(self.names, self.reads, rows, strict=True)
        }

    def _with_totals(self, memories: tuple[Memory, ...]) -> Expression:
        """The condition with its aggregates worked out."""
        values = {
            (name, node.attribute): total
            for name, memory, nodes in zip(self.names, memories, self.aggregates, strict=True)
            for total, node in zip(memory.totals, nodes, strict=True)
        }

        def worked_out(node: Expression) -> Expression:
            if isinstance(node, Aggregate):
                total = values[node.variable, node.attribute]
                count = total.events if node.attribute is None else total.of(node.function)
                return Literal(count)
            return rebuild(node, worked_out)

        return worked_out(self._flat)

    # ------------------------------------------------------------ what decides

    def _condensed(self, place: int, memory: Memory) -> Memory:
        """For `A.x < B.y` the extreme value decides; for `=`, one value or that they differ."""
        keep = self._decisive.get(place)
        if keep is None or len(memory.rows) < 2:
            return memory
        values = [row[0] for row in memory.rows]
        if any(value is None for value in values):
            return memory._replace(rows=frozenset({(None,)}))
        if keep == "=":
            return memory._replace(rows=frozenset({(_DIFFERENT,)}))
        return memory._replace(rows=frozenset({(max(values) if keep == "max" else min(values),)}))

    @cached_property
    def _decisive(self) -> dict[int, str]:
        condition = self.condition
        if not (
            isinstance(condition, Comparison)
            and isinstance(condition.left, Attribute)
            and isinstance(condition.right, Attribute)
            and condition.left.variable != condition.right.variable
            and condition.op != "!="
        ):
            return {}
        left = self.names.index(str(condition.left.variable))
        right = self.names.index(str(condition.right.variable))
        if condition.op == "=":
            return {left: "=", right: "="}
        if condition.op in ("<", "<="):
            return {left: "max", right: "min"}
        return {left: "min", right: "max"}


_DIFFERENT: Any = None
"""Stands for several different values: like NULL, it is equal to nothing."""


def _flattened(node: Expression) -> Expression:
    if isinstance(node, Attribute):
        return Attribute((node.name,), node.variable)
    return rebuild(node, _flattened)


def _plain(value: Any) -> Any:
    """NaN compares as nothing does and would be a new value each time: one object for all."""
    return math.nan if isinstance(value, float) and value != value else value
