"""Evaluates every distinct test of several plans over one stream once per batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.ingest.letters import Letters
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest

Classified = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


class Classifier(Protocol):
    """Finds out which tests of a plan the events of a batch pass."""

    def classify(
        self,
        batch: pa.RecordBatch,
        known: dict[int, int],
        costs: Costs | None = None,
        *,
        keep_all: bool = False,
    ) -> Classified:
        """The rows that can matter, and the class of each (numbered in `known`)."""


class SharedLetters:
    """The tests of several plans for the same stream, and their results on the last batch."""

    def __init__(self, plans: Sequence[Plan], schema: pa.Schema) -> None:
        self.numbers: dict[EventTest, int] = {}
        for plan in plans:
            for test in plan.tests:
                self.numbers.setdefault(test, len(self.numbers))
        self._letters = Letters(list(self.numbers), plans[0].stream, schema)
        self.known: dict[int, int] = {}
        self._batch: pa.RecordBatch | None = None
        self._results: dict[bool, Classified] = {}

    def classify(self, batch: pa.RecordBatch, costs: Costs | None, keep_all: bool) -> Classified:
        """The classes for all tests of all plans. The cost of the tests counts for the plan that
        calls first."""
        if batch is not self._batch:
            self._batch, self._results = batch, {}
        if keep_all not in self._results:
            self._results[keep_all] = self._letters.classify(
                batch, self.known, costs, keep_all=keep_all
            )
        return self._results[keep_all]

    def view(self, plan: Plan) -> LettersView:
        return LettersView(self, [self.numbers[test] for test in plan.tests])


class LettersView:
    """One plan's letters, cut out of the shared ones."""

    def __init__(self, shared: SharedLetters, bits: list[int]) -> None:
        self._shared, self._bits = shared, bits
        self._classes: list[int] = []

    def classify(
        self,
        batch: pa.RecordBatch,
        known: dict[int, int],
        costs: Costs | None = None,
        *,
        keep_all: bool = False,
    ) -> Classified:
        """As `Letters.classify`: the rows that can matter to this plan, and their classes."""
        rows, classes = self._shared.classify(batch, costs, keep_all)
        for letter in list(self._shared.known)[len(self._classes) :]:
            of_plan = sum((letter >> bit & 1) << place for place, bit in enumerate(self._bits))
            dropped = not of_plan and not keep_all
            number = -1 if dropped else known.setdefault(of_plan, len(known))
            self._classes.append(number)
        numbers = np.array(self._classes or [-1], np.int32)[classes]
        if len(numbers) and numbers.min() < 0:
            kept = numbers >= 0
            return rows[kept], numbers[kept]
        return rows, numbers
