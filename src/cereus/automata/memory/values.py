"""Values in states: reading the values of events, and a filter whose states remember them.

`φ FILTER P(A, B, …)` for any P: a state is a state of φ together with what its variables hold, in
this scope, as far as P can tell (`Memory`). A scope begins with empty memories, so in `(R ; S
FILTER R.id = S.id)+` every iteration has its own, and a state that is left takes its memory with
it. Like every automaton here it is made on demand. It has infinitely many states, but a stream
visits finitely many, and runs that agree on what decides are in one state.

A condition on the events themselves is checked when an event is marked, against all that is
remembered, so that hopeless runs die early. One with aggregates is decided where φ accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from cereus.automata.memory.totals import Totals, one_nan
from cereus.automata.model import Automaton, Label, Letter, Move, State
from cereus.expr.python.evaluate import Known, holds
from cereus.expr.tree import (
    Aggregate,
    Attribute,
    Comparison,
    Expression,
    rebuild,
    variables,
)
from cereus.state.classes import state_class, state_class_of

Path = tuple[str, ...]
Row = tuple[Any, ...]
"""The values that conditions read of one event."""


# ---------------------------------------------------------------- reading events


class ValuedLetter(int):
    """A letter with the values of its event: `values[path]`. Letters without values are plain.
    `is_read` says whether anything has read the values since it was last set to False."""

    _values: dict[Path, Any]
    is_read = False

    @classmethod
    def of(cls, letter: Letter, values: dict[Path, Any]) -> ValuedLetter:
        made = cls(letter)
        made._values = values
        return made

    @property
    def values(self) -> dict[Path, Any]:
        self.is_read = True
        return self._values


state_class_of(ValuedLetter, "letter", 2, lambda it: (int(it), it.values), ValuedLetter.of)


def value_of(letter: Letter, path: Path) -> Any:
    """The value of a marked event, which its letter carries."""
    assert isinstance(letter, ValuedLetter), "an event that is compared has its values with it"
    return one_nan(letter.values[path])


def row_of(letter: Letter, paths: Iterable[Path]) -> Row:
    """The values at these paths; unknown if the automaton is only explored, without events."""
    if not isinstance(letter, ValuedLetter):
        return tuple(None for _ in paths)
    return tuple(one_nan(letter.values[path]) for path in paths)


@dataclass(frozen=True)
class RowReader:
    """Variables, and the attributes that conditions read of the events of each."""

    names: tuple[str, ...] = ()
    paths: tuple[tuple[Path, ...], ...] = ()

    @classmethod
    def of(cls, conditions: Iterable[Expression]) -> RowReader:
        paths: dict[str, set[Path]] = {}
        for condition in conditions:
            paths |= {name: set() for name in variables(condition) - paths.keys()}
            for node in condition.walk():
                if isinstance(node, Attribute) and node.variable is not None:
                    paths[node.variable].add(node.path)
        names = tuple(sorted(paths))
        return cls(names, tuple(tuple(sorted(paths[name])) for name in names))

    def row(self, place: int, letter: Letter) -> Row:
        """The values that are read of an event of the variable at a place."""
        return row_of(letter, self.paths[place])

    def bindings(self, rows: Iterable[Row | None]) -> dict[str, dict[str, Any]]:
        """The events of all variables, for `flattened` conditions; None if a variable has none."""
        return {
            name: {".".join(path): value for path, value in zip(paths, row, strict=True)}
            for name, paths, row in zip(self.names, self.paths, rows, strict=True)
            if row is not None
        }


def flattened(node: Expression) -> Expression:
    """The condition with every attribute a single step, as rows are read."""
    if isinstance(node, Attribute):
        return Attribute((node.name,), node.variable)
    return rebuild(node, flattened)


# ---------------------------------------------------------------- a filter


@state_class("memory")
class Memory(NamedTuple):
    """What one variable holds, as far as the condition can tell: the rows of the attributes that it
    reads, and the totals of its aggregated attributes."""

    rows: frozenset[Row] = frozenset()
    totals: tuple[Totals, ...] = ()


@dataclass(frozen=True)
class ValueFilter(Automaton):
    """`body FILTER condition`, true for every combination of events of its variables."""

    body: Automaton
    condition: Expression

    @cached_property
    def reader(self) -> RowReader:
        return RowReader.of((self.condition,))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.reader.names

    @cached_property
    def aggregates(self) -> tuple[tuple[Aggregate, ...], ...]:
        """Per variable, its aggregates, one for each attribute."""
        totals = [node for node in self.condition.walk() if isinstance(node, Aggregate)]
        return tuple(
            tuple({n.attribute: n for n in totals if n.variable == name}.values())
            for name in self.names
        )

    @cached_property
    def at_the_end(self) -> bool:
        return any(self.aggregates)

    @cached_property
    def _flat(self) -> Expression:
        return flattened(self.condition)

    # ------------------------------------------------------------ the automaton

    def initial(self) -> Iterable[State]:
        empty = tuple(Memory(totals=tuple(map(self._nothing, each))) for each in self.aggregates)
        return [(q, empty) for q in self.body.initial()]

    def _nothing(self, node: Aggregate) -> Totals:
        """The totals of an attribute before any event."""
        every = (n for n in self.condition.walk() if isinstance(n, Aggregate))
        same = (node.variable, node.attribute)
        return Totals.keeping(n.function for n in every if (n.variable, n.attribute) == same)

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

    def waits(self, state: Any) -> bool:
        return self.body.waits(state[0])

    # ------------------------------------------------------------ memories

    def _remember(
        self, memories: tuple[Memory, ...], label: Label, letter: Letter
    ) -> tuple[Memory, ...] | None:
        """The memories with the marked event added; None if a combination with it fails."""
        assert isinstance(letter, ValuedLetter), "an event that is marked has its values with it"
        after: list[Memory] = []
        fresh: list[frozenset[Row]] = []
        for place, (name, memory) in enumerate(zip(self.names, memories, strict=True)):
            if name not in label:
                after.append(memory)
                fresh.append(frozenset())
                continue
            fresh.append(frozenset({self.reader.row(place, letter)}))
            totals = tuple(
                total.plus(None if node.attribute is None else value_of(letter, node.attribute))
                for total, node in zip(memory.totals, self.aggregates[place], strict=True)
            )
            rows = memory.rows | fresh[-1] if self.reader.paths[place] else memory.rows
            after.append(Memory(rows, totals))
        if not self.at_the_end and not self._fits(after, fresh):
            return None
        return tuple(self._condensed(place, memory) for place, memory in enumerate(after))

    def _fits(self, after: list[Memory], fresh: list[frozenset[Row]]) -> bool:
        """Whether the condition is true for every combination that includes the new event."""
        for place, rows in enumerate(fresh):
            if rows:
                parts = [rows if p == place else memory.rows for p, memory in enumerate(after)]
                if not self._all(self._flat, parts):
                    return False
        return True

    def _every(self, condition: Expression, memories: tuple[Memory, ...]) -> bool:
        parts = [
            memory.rows if paths else frozenset({()})
            for memory, paths in zip(memories, self.reader.paths, strict=True)
        ]
        return self._all(condition, parts)

    def _all(self, condition: Expression, parts: list[frozenset[Row]]) -> bool:
        combinations = product(*parts)
        return all(holds(condition, {}, self.reader.bindings(rows)) for rows in combinations)

    def _with_totals(self, memories: tuple[Memory, ...]) -> Expression:
        """The condition with the values of its aggregates."""
        values = {
            (name, node.attribute): total
            for name, memory, nodes in zip(self.names, memories, self.aggregates, strict=True)
            for total, node in zip(memory.totals, nodes, strict=True)
        }

        def worked_out(node: Expression) -> Expression:
            if isinstance(node, Aggregate):
                total = values[node.variable, node.attribute]
                return Known(total.value(node.function, node.attribute, node.parameter))
            return rebuild(node, worked_out)

        return worked_out(self._flat)

    # ------------------------------------------------------------ what decides

    def _condensed(self, place: int, memory: Memory) -> Memory:
        """The part of a memory that decides: for `A.x < B.y` the extreme value; for `=`, one value
        or that there are several."""
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
"""Stands for several different values: like NULL, it equals nothing."""
