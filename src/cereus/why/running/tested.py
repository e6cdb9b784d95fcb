"""Finds which events pass which tests: every condition is evaluated once, for all events
together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest import codes
from cereus.engine.ingest.letters import letters_of
from cereus.expr.arrow.evaluate import mask
from cereus.expr.tree import Expression, attributes
from cereus.plan.tests import EventTest, conditions_of
from cereus.stream import Stream

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
NONE = np.zeros(0, np.int32)


class TestedEvents:
    """Conditions on single events, evaluated for a table.

    Events that satisfy the same conditions are of one *kind*. There are few kinds, so the events
    that pass a test are a choice of kinds: counting them, and joining choices, does not read the
    events any more. A choice is a mask over all kinds.
    """

    __test__ = False  # not a pytest class

    def __init__(self, table: pa.Table, stream: Stream, tests: Iterable[EventTest]) -> None:
        self._table = table
        self._stream = stream
        conditions = dict.fromkeys(c for test in tests for c in self.conditions(test))
        letters_seen: dict[int, int] = {}
        atoms = tuple(EventTest(conditions=(each,)) for each in conditions)
        letters = letters_of(atoms or (EventTest(),), Stream(type=None), table.schema)
        read = {path[0] for each in conditions for path in attributes(each)}
        batches = table.select(sorted(read) or table.column_names[:1]).to_batches()
        parts = [letters.classify(batch, letters_seen, keep_all=True)[1] for batch in batches]
        self.kinds = parts[0] if len(parts) == 1 else np.concatenate([*parts, NONE])
        """The kind of each event."""
        self._size = len(letters_seen)
        self._parents: list[tuple[int, Places]] = []
        """For each condition that split some kinds: how many kinds there were before, and what each
        kind was before. Their order stays, so if there are as many kinds as before, they are the
        same."""
        self._places: dict[tuple[int, bytes], Places] = {}
        self._events: dict[bytes, Mask] = {}
        self._among: dict[tuple[int, bytes], tuple[Places, Places]] = {}
        self._passing: dict[EventTest, Mask] = {}
        self._counts = codes.counts_of_keys(self.kinds, self._size)
        self._holds = {
            condition: np.array([letter >> bit & 1 for letter in letters_seen], bool)
            for bit, condition in enumerate(conditions)
        }

    def conditions(self, test: EventTest) -> tuple[Expression, ...]:
        """All conditions of a test, including its type and stream."""
        return conditions_of(test, self._stream)

    def satisfying(self, condition: Expression) -> Mask:
        """The kinds of events that satisfy a condition."""
        if condition not in self._holds:
            self._add(condition)
        return self._holds[condition]

    def _add(self, condition: Expression) -> None:
        """Split each kind of which some events satisfy the condition and others do not. No kind
        without events is made, so there are never more kinds than events."""
        halves = 2 * self.kinds.astype(np.int64) + mask(condition, self._table)
        made = np.zeros(2 * self._size, bool)
        made[::2] = self._counts == 0
        made[halves] = True
        chosen = np.flatnonzero(made)
        parents = chosen // 2
        self.kinds = (np.cumsum(made) - 1)[halves].astype(np.int32)
        self._holds = {each: on[parents] for each, on in self._holds.items()}
        self._holds[condition] = chosen % 2 == 1
        if len(chosen) > self._size:
            self._parents.append((self._size, parents))
        self._size = len(chosen)
        self._passing, self._places, self._among, self._events = {}, {}, {}, {}
        self._counts = codes.counts_of_keys(self.kinds, self._size)

    def passing(self, test: EventTest) -> Mask:
        """The kinds of events that pass a test."""
        if test not in self._passing:
            conditions = self.conditions(test)
            for condition in conditions:
                self.satisfying(condition)
            passed = np.ones(self._size, bool)
            for condition in conditions:
                passed &= self._holds[condition]
            self._passing[test] = ~passed if test.negated else passed
        return self._passing[test]

    def failed_alone(self, test: EventTest) -> frozenset[Expression]:
        """The conditions of a test that the events of some kind fail while they satisfy all
        others."""
        conditions = dict.fromkeys(self.conditions(test))
        for condition in conditions:
            self.satisfying(condition)
        failed = {each: ~self._holds[each] for each in conditions}
        alone = sum(map(np.uint32, failed.values()), np.zeros(self._size, np.uint32)) == 1
        return frozenset(each for each, missed in failed.items() if (missed & alone).any())

    def any_of(self, tests: Iterable[EventTest]) -> Mask:
        """The kinds of events that pass one of several tests."""
        every = self.each_passing(tests)
        passed = np.zeros(self._size, bool)
        for each in every:
            passed |= each
        return passed

    def each_passing(self, tests: Iterable[EventTest]) -> list[Mask]:
        """The kinds of events that pass each of several tests; all choices have the same length."""
        every = [self.passing(test) for test in tests]
        return [self.grown(each) for each in every]

    def grown(self, choice: Mask) -> Mask:
        """A choice that was made before other conditions were evaluated, over the kinds of now."""
        for size, parents in self._parents:
            if len(choice) == size:
                choice = choice[parents]
        return choice

    def count(self, choice: Mask) -> int:
        """How many events are of one of these kinds."""
        return int(self._counts[choice].sum())

    def events(self, choice: Mask) -> Mask:
        """Which events are of one of these kinds. It is cached, since a step needs it several
        times."""
        key = choice.tobytes()
        if key not in self._events:
            self._events[key] = codes.flags_of_keys(self.kinds, _flags(choice))
        return self._events[key]

    def among(self, places: Places, choice: Mask) -> Places:
        """The places among these where events of these kinds are. It is cached for the same
        places."""
        key = (id(places), choice.tobytes())
        if key not in self._among:
            self._among[key] = places, places[choice[self.kinds[places]]]
        return self._among[key][1]

    def places(self, choice: Mask, before: int | None = None) -> Places:
        """The places of events of these kinds, of all or of the first `before` events. It is
        cached, since queries that differ in one rule need the same."""
        end = len(self.kinds) if before is None else before
        key = (end, choice.tobytes())
        if key not in self._places:
            rows = codes.rows_of_keys(self.kinds[:end], _flags(choice))
            self._places[key] = rows.copy()  # not the memory of all events
        return self._places[key]


def _flags(choice: Mask) -> npt.NDArray[np.uint8]:
    """A choice in the form that compiled code reads; there may be no kind at all."""
    return (choice if len(choice) else np.zeros(1, bool)).view(np.uint8)
