"""Which events pass which tests: every condition is computed once, for all events together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.letters import conditions_of, letters_of
from cereus.expr.arrow.evaluate import mask
from cereus.expr.tree import Expression
from cereus.plan.tests import EventTest
from cereus.stream import Stream

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


class TestedEvents:
    """Conditions on single events, computed for a table.

    Events that satisfy the same of these conditions are of one *kind*. There are few kinds, so
    what a test lets pass is a choice of kinds: counting them, and joining choices, does not look
    at the events any more. A choice is a mask over all kinds.
    """

    __test__ = False  # not a pytest class

    def __init__(self, table: pa.Table, stream: Stream, tests: Iterable[EventTest]) -> None:
        self._table = table
        self._paths = [None if name is None else (name,) for name in (stream.type, stream.stream)]
        conditions = dict.fromkeys(c for test in tests for c in self.conditions(test))
        found: dict[int, int] = {}
        atoms = tuple(EventTest(conditions=(each,)) for each in conditions)
        letters = letters_of(atoms or (EventTest(),), None, None, table.schema)
        parts = [letters.classify(b, found, keep_all=True)[1] for b in table.to_batches()]
        self.kinds = np.concatenate([np.zeros(0, np.intp), *parts])
        """The kind of each event."""
        self._size = len(found)
        self._places: dict[bytes, Places] = {}
        self._counts = np.bincount(self.kinds, minlength=self._size)
        self._holds = {
            condition: np.array([letter >> bit & 1 for letter in found], bool)
            for bit, condition in enumerate(conditions)
        }

    def conditions(self, test: EventTest) -> tuple[Expression, ...]:
        """All that a test asks, its type and stream among that."""
        return conditions_of(test, *self._paths)

    def satisfying(self, condition: Expression) -> Mask:
        """The kinds of events that satisfy a condition."""
        if condition not in self._holds:
            self._add(condition)
        return self._holds[condition]

    def _add(self, condition: Expression) -> None:
        """Every kind becomes two: those that satisfy the condition come behind all others."""
        satisfied = mask(condition, self._table)
        self.kinds = self.kinds + satisfied * self._size
        self._holds = {each: np.concatenate([on, on]) for each, on in self._holds.items()}
        self._holds[condition] = np.arange(2 * self._size) >= self._size
        self._size *= 2
        self._counts = np.bincount(self.kinds, minlength=self._size)

    def know(self, tests: Iterable[EventTest]) -> None:
        """Compute what some tests ask, before choices are joined that must be of one size."""
        for test in tests:
            for condition in self.conditions(test):
                self.satisfying(condition)

    def passing(self, test: EventTest) -> Mask:
        """The kinds of events that pass a test."""
        self.know([test])
        passed = np.ones(self._size, bool)
        for condition in self.conditions(test):
            passed &= self._holds[condition]
        return ~passed if test.negated else passed

    def any_of(self, tests: Iterable[EventTest]) -> Mask:
        """The kinds of events that pass one of several tests."""
        tests = tuple(tests)
        self.know(tests)
        passed = np.zeros(self._size, bool)
        for test in tests:
            passed |= self.passing(test)
        return passed

    def count(self, choice: Mask) -> int:
        """How many events are of one of these kinds."""
        return int(self._counts[choice].sum())

    def events(self, choice: Mask) -> Mask:
        """Which events are of one of these kinds."""
        chosen: Mask = choice[self.kinds]
        return chosen

    def places(self, choice: Mask) -> Places:
        """Where events of these kinds stand. Queries that differ in one rule ask for the same."""
        key = choice.tobytes()
        if key not in self._places:
            self._places[key] = np.flatnonzero(self.events(choice))
        return self._places[key]
