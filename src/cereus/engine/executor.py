"""The one interface behind which every dialect runs: batches in, result batches out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.match.runner import Runner
from cereus.engine.match.strategy_by_listing import ListingRunner
from cereus.engine.match.strategy_by_replay import ReplayRunner
from cereus.engine.match.table_cache import Learned
from cereus.engine.match.value_letters import (
    GeneralCountingRunner,
    GeneralListingRunner,
    GeneralReplayRunner,
    GeneralRunner,
)
from cereus.engine.results.counts import CountingRunner, CountResults
from cereus.engine.results.event_rows import EventResults, EventShape, OwnCounts
from cereus.engine.results.rows import Results, needed_payload
from cereus.limits import Limits
from cereus.plan.plan import ChosenBy, Plan


def runner_for(plan: Plan) -> type[Runner]:
    """By whether events are compared beyond what registers can do, and how a strategy chooses."""
    if plan.query.count:
        return GeneralCountingRunner if plan.remembers_values else CountingRunner
    if plan.chosen_by is ChosenBy.LISTING:
        return GeneralListingRunner if plan.remembers_values else ListingRunner
    if plan.chosen_by is ChosenBy.REPLAY:
        return GeneralReplayRunner if plan.remembers_values else ReplayRunner
    return GeneralRunner if plan.remembers_values else Runner


class Executor(ABC):
    """Runs one plan over the batches of one stream. `schema` is the schema of what comes out."""

    schema: pa.Schema
    waits_for_time = False
    """Whether `advance` may complete results; else it only helps to forget."""
    late = False
    """Whether a result may be told later than its own time is read."""

    @abstractmethod
    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch; what it completes."""

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        """No event before `time` will come; what that completes."""
        return iter(())

    def forget_idle(self) -> None:
        """From now on keys may be forgotten that no match can have any more, as far as the order
        of time so far tells (`engine.forgetting`)."""
        return

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The stream is over; what that completes."""
        return iter(())

    @abstractmethod
    def forget(self) -> None:
        """No key of so far comes again: drop their state. For streams sorted by key."""

    @property
    def shed(self) -> list[str]:
        """What was left out because a limit was reached; empty when the results are complete."""
        return []

    @abstractmethod
    def save(self) -> bytes: ...

    @abstractmethod
    def restore(self, snapshot: bytes) -> None: ...

    @property
    @abstractmethod
    def events(self) -> pa.Table | None:
        """The remembered events, when the executor was told to keep them."""

    @property
    @abstractmethod
    def event_rows(self) -> npt.NDArray[np.int64]:
        """The row numbers of the remembered events."""


class PatternExecutor(Executor):
    """CEQL and whatever else is compiled to the automaton kernel.

    With `shape` the matches carry their events; without it, row numbers.
    """

    def __init__(
        self,
        plan: Plan,
        schema: pa.Schema,
        *,
        limits: Limits | None = None,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
        shape: EventShape | None = None,
        learned: Learned | None = None,
    ) -> None:
        self.plan = plan
        self.waits_for_time = plan.closes
        self.late = plan.late
        kind = runner_for(plan)
        carried = () if shape is None else shape.payload(plan.query)
        self.runner = kind(
            plan,
            schema,
            limits=limits,
            payload=tuple(dict.fromkeys((*needed_payload(plan.query), *keep, *carried))),
            row_numbers=row_numbers,
            # states that remember values are forgotten again, and so cannot be shared
            learned=None if plan.remembers_values else learned,
        )
        self.results: Results
        if shape is None:
            self.results = (CountResults if plan.query.count else Results)(self.runner, schema)
        else:
            kind_of_results = OwnCounts if plan.query.count else EventResults
            self.results = kind_of_results(self.runner, schema, shape)
        self.schema = self.results.schema

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        return self.results.batches(self.runner.push(batch))

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        return self.results.batches(self.runner.advance(time))

    def finish(self) -> Iterator[pa.RecordBatch]:
        return self.results.batches(self.runner.finish())

    def forget_idle(self) -> None:
        self.runner.forgets = True

    def forget(self) -> None:
        self.runner.forget()

    @property
    def shed(self) -> list[str]:
        return self.runner.shed

    @property
    def header(self) -> dict[str, Any]:
        return {"version": self.plan.version, "query fingerprint": self.plan.fingerprint}

    def save(self) -> bytes:
        return snapshot.dump(self.header, self.runner.save())

    def restore(self, snapshot_bytes: bytes) -> None:
        self.runner.restore(snapshot.load(snapshot_bytes, self.header))

    @property
    def events(self) -> pa.Table | None:
        return self.runner.history.payload

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return self.runner.history.rows
