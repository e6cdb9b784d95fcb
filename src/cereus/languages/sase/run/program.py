"""Runs SASE+ texts of several queries: events go through the queries in the order of their streams.

The output of a query for others is *pending* until no earlier event can come (`pending`): the next
query reads its events in the order of time, and gives the same answer however the input is cut. How
far time has come, the *frontier*, is the latest time read, if the stream has no keys; with keys,
whose times may differ, it is what `advance` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import TimeWindow
from cereus.engine import snapshot
from cereus.engine.costs import Costs
from cereus.engine.executor import Executor, runner_for
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.ingest.clock import RowNumbers, as_integers, read
from cereus.engine.ingest.substreams import Substreams
from cereus.engine.ingest.where import EventFilter
from cereus.engine.match.after.timeouts import Timeouts, timeout_payload
from cereus.engine.match.runner import Runner
from cereus.engine.match.table_cache import TableCaches
from cereus.engine.parallel.sharing import ResultOrder, Sharing
from cereus.engine.results.aggregates import Ints
from cereus.engine.results.match_chunks import BufferPools, MatchChunk
from cereus.engine.results.timeout_rows import TimeoutRows
from cereus.errors import CereusError, DataError
from cereus.languages.sase.planning.program import Block, ProgramPlan, Stage
from cereus.languages.sase.run.output import OF, BlockOutput
from cereus.languages.sase.run.pending import HIDDEN, NEVER, OVER, PendingEvents, Time, first_before
from cereus.limits import Limits
from cereus.state import checked


@dataclass(eq=False)
class BlockRun:
    """A query block while it runs: what finds its matches, and what makes its output; its number is
    among the blocks of its stage."""

    number: int
    block: Block
    runner: Runner
    output: BlockOutput
    timeouts: TimeoutRows | None = None

    @property
    def lateness(self) -> Time:
        """How long after its last event a match may be emitted, in the units of time."""
        clock = self.runner.clock
        if not self.block.emits_late:
            return 0
        timed = isinstance(self.block.query.window, TimeWindow)
        return clock.span if timed else OVER


class ProgramExecutor(Executor):
    """Runs the queries of a text, and emits the results of the last of them."""

    def __init__(
        self,
        plan: ProgramPlan,
        schema: pa.Schema,
        *,
        limits: Limits | None = None,
        keep: tuple[str, ...] = (),
        row_numbers: Ints | None = None,
        tables: TableCaches | None = None,
    ) -> None:
        self.plan, self.stream = plan, plan.stream
        self.tables = tables or TableCaches()
        self.emits_late = plan.emits_late
        self.waits_for_time = plan.emits_late and self.stream.time is not None
        self.keep, self.row_numbers = keep, row_numbers
        self.watched = Substreams((), schema, ("time",))
        self.where = EventFilter(self.stream, schema)
        self.frontier: Time = NEVER
        self.rows = 0
        self.real = False
        if self.stream.time is not None:
            kind = schema.field(self.stream.time).type
            self.real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        self.runs: list[list[BlockRun]] = []
        self._buffers = BufferPools()
        self.pending = [PendingEvents() for _ in plan.stages]
        for stage in plan.stages:
            self.runs.append(self._started(stage, schema, limits))
        self.schema = self.runs[-1][0].output.schema
        self._has_read = self._torn = False
        self._emitting = 0
        self._events: pa.Table | None = None
        self._event_rows = np.zeros(0, np.int64)

    def _started(self, stage: Stage, schema: pa.Schema, limits: Limits | None) -> list[BlockRun]:
        runs = []
        for number, block in enumerate(stage.blocks):
            source, carried = schema, self.keep
            if block.source is not None:
                source, carried = self.runs[block.source][0].output.schema, (OF,)
                source = pa.schema([each for each in source if each.name not in HIDDEN])
            if block.plan.timeouts is not None:
                carried = (*carried, *timeout_payload(block.plan))
            runner = runner_for(
                block.plan,
                source,
                limits=limits,
                payload=tuple(dict.fromkeys((*block.payload, *carried))),
                ordinals=True,
                row_numbers=self.row_numbers if block.source is None else None,
                cache=self.tables.of(block.plan, limits or Limits()),
                watches_keys=bool(self.stream.keys),
                buffers=self._buffers,
            )
            output = BlockOutput(
                runner,
                stage,
                number,
                source,
                self.stream,
                self.plan.aggregates,
                keep=self.keep,
                row_numbers=self.row_numbers,
                result=stage is self.plan.result,
            )
            timeouts = None
            if block.plan.timeouts is not None:
                partial = Timeouts(runner, block.plan.timeouts, runner_for)
                timeouts = TimeoutRows(output, partial)
            runs.append(BlockRun(number, block, runner, output, timeouts))
        return runs

    # ------------------------------------------------------------ events in, results out

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch. A refused batch leaves no trace: the next is read as if it had not come. If
        keys run apart, one block may have read what another refuses: then nothing more can be
        read."""
        self._begin()
        self._has_read = False
        known = self.rows, self.frontier, self.watched.latest["time"].copy()
        try:
            self._watch(batch)
            self.rows += batch.num_rows
            yield from self._through(batch)
        except CereusError:
            self.rows, self.frontier, self.watched.latest["time"] = known
            self._torn = self._has_read
            raise

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        self._begin()
        self.frontier = max(self.frontier, time)
        return self._through(None, advanced=True)

    def finish(self) -> Iterator[pa.RecordBatch]:
        self._begin()
        return self._through(None, finished=True)

    def _through(
        self, batch: pa.RecordBatch | None, *, advanced: bool = False, finished: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Let every query read its events, in the order of their streams."""
        fresh: list[pa.RecordBatch | None] = []
        frontiers: list[Time] = []
        start = OVER if finished else self._input_frontier()
        promise = advanced or not self.stream.keys
        for place, (stage, runs) in enumerate(zip(self.plan.stages, self.runs, strict=True)):
            known: Time = OVER
            for run in runs:
                source = run.block.source
                events = batch if source is None else fresh[source]
                frontier = start if source is None else frontiers[source]
                made = self._made(run, events, frontier if promise or finished else NEVER)
                if stage is self.plan.result:
                    yield from self._emitted(run, made)
                else:
                    self.pending[place].add(made)
                known = min(known, self._behind(run, frontier))
            pending = self.pending[place]
            fresh.append(pending.release(known, real=self.real))
            timed = finished or self.stream.time is not None
            frontiers.append(known if timed else pending.released)

    def _made(
        self, run: BlockRun, events: pa.RecordBatch | None, frontier: Time
    ) -> Iterator[pa.RecordBatch]:
        chunks = self._matches(run, events, frontier)
        if run.timeouts is None:
            yield from run.output.batches(chunks)
            return
        yield from run.timeouts.read(chunks)
        if frontier == OVER:
            yield from run.timeouts.finish()
        elif frontier != NEVER and self.stream.time is not None:
            yield from run.timeouts.advance(int(frontier))

    def _matches(
        self, run: BlockRun, events: pa.RecordBatch | None, frontier: Time
    ) -> Iterator[MatchChunk]:
        if events is not None:
            yield from run.runner.push(events)
            self._has_read = True
        if frontier == OVER:
            yield from run.runner.finish()
        elif frontier != NEVER and self.stream.time is not None:
            yield from run.runner.advance(frontier)  # type: ignore[arg-type]

    @staticmethod
    def _behind(run: BlockRun, frontier: Time) -> Time:
        """The time before which a block emits nothing any more."""
        if frontier in (NEVER, OVER):
            return frontier
        late = run.lateness
        return NEVER if late == OVER else frontier - late

    def _emitted(self, run: BlockRun, made: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        self._emitting = run.number
        for batch in made:
            of = run.output.last_constituents
            if self.keep and of is not None and of.events is not None:
                self._remember(of.rows, of.events)
            yield batch

    # ------------------------------------------------------------ time

    def _input_frontier(self) -> Time:
        return self.rows if self.stream.time is None else self.frontier

    def _watch(self, batch: pa.RecordBatch) -> None:
        """Note the latest time. A stream without keys comes in the order of time, whatever
        equivalence tests it has: time that passes for one of its events passes for all."""
        name = self.stream.time
        if name is None or not batch.num_rows:
            return
        rows = RowNumbers(self.rows, self.where.places(batch), self.row_numbers)
        batch = self.where.passing(batch)
        times = as_integers(
            read(batch, (name,), "the time column"), f"the time column {name!r}", rows
        )
        if not self.stream.keys:
            codes = np.zeros(len(times), np.int32)
            self.watched.check_order("time", name, times, codes, None, rows)
        early = first_before(times, self.frontier, real=self.real)
        if early is not None:
            raise DataError(
                f"{name!r} of row {rows.of_selected(early)} is before what advance() promised",
                hint="advance no further than the earliest event that may still come",
            )
        if self.stream.keys:
            return
        column = batch.column(name).slice(batch.num_rows - 1)
        latest = float(column[0].as_py()) if self.real else int(times[-1])
        self.frontier = max(self.frontier, latest)

    def forget_idle(self) -> None:
        """Forget idle keys. Matches that wait for their window must not be forgotten before it has
        passed."""
        for run in self._every():
            if run.block.source is None and not run.block.emits_late:
                run.runner.forget_idle_keys()

    def forget(self) -> None:
        for run in self._every():
            run.runner.forget()
            if run.timeouts is not None:
                run.timeouts.starts.forget()
        self.pending = [PendingEvents(released=each.released) for each in self.pending]
        self.watched.forget()
        self.frontier, self._torn = NEVER, False

    def _every(self) -> Iterator[BlockRun]:
        return (run for runs in self.runs for run in runs)

    @property
    def shed(self) -> list[str]:
        return [note for run in self._every() for note in run.runner.shed]

    @property
    def costs(self) -> Costs:
        """The counts of all blocks together; events are those of the input."""
        every = sum((run.runner.costs for run in self._every()), Costs())
        return replace(every, events=self.rows)

    @property
    def readers(self) -> tuple[BatchReader, ...]:
        """The readers of the blocks that read the input."""
        return tuple(run.runner.reader for run in self._every() if run.block.source is None)

    def sharing(self) -> Sharing | None:
        """This executor as one of several, if no query reads another's events, and no match waits
        for time to pass in the whole input."""
        if not self.plan.splits:
            return None
        for run in self.runs[-1]:
            run.output.notes_keys = True
        return Sharing(self.readers, self._order_of_last)

    def _order_of_last(self) -> ResultOrder:
        order = self.runs[-1][self._emitting].output.order_of_last()
        return ResultOrder(2 * self._emitting + order.segment, order.numbers, self._emitting)

    # ------------------------------------------------------------ state that outlives the process

    @property
    def header(self) -> dict[str, Any]:
        return {"version": self.plan.version, "query fingerprint": self.plan.fingerprint}

    def save(self) -> bytes:
        self._refuse_torn()
        state = {
            "runs": [[run.runner.save() for run in runs] for runs in self.runs],
            "held": [pending.save() for pending in self.pending],
            "watched": self.watched.save(),
            "frontier": self.frontier,
            "rows": self.rows,
        }
        late = [run.timeouts.starts for run in self._every() if run.timeouts is not None]
        if late:
            state["open"] = [starts.save() for starts in late]
        return snapshot.dump(self.header, state)

    def restore(self, snapshot_bytes: bytes) -> None:
        state = snapshot.load(snapshot_bytes, self.header)
        self._torn = False
        with snapshot.restoring():
            self._take_up(state)

    def _take_up(self, state: dict[str, Any]) -> None:
        for runs, saved in zip(self.runs, state["runs"], strict=True):
            for run, each in zip(runs, saved, strict=True):
                run.runner.restore(each)
        late = [run.timeouts.starts for run in self._every() if run.timeouts is not None]
        for starts, each in zip(late, state["open"] if late else (), strict=True):
            starts.restore(each)
        self.pending = [
            PendingEvents.restored(saved, runs[0].output.schema)
            for runs, saved in zip(self.runs, state["held"], strict=True)
        ]
        self.watched.restore(state["watched"])
        self.frontier = checked.number(state["frontier"], "how far time has come")
        self.rows = checked.count(state["rows"], "the number of rows")

    # ------------------------------------------------------------ events of the last results

    def _begin(self) -> None:
        self._refuse_torn()
        self._events, self._event_rows = None, np.zeros(0, np.int64)

    def _refuse_torn(self) -> None:
        if self._torn:
            raise CereusError(
                "a batch was refused after some queries of this text had read it",
                hint="go on from the last snapshot, or make a new recognizer",
            )

    def _remember(self, rows: Ints, events: pa.Array) -> None:
        every, first = np.unique(np.concatenate([self._event_rows, rows]), return_index=True)
        added = pa.Table.from_struct_array(events)
        events = added if self._events is None else pa.concat_tables([self._events, added])
        self._events, self._event_rows = events.take(pa.array(first)), every

    @property
    def events(self) -> pa.Table | None:
        return self._events

    @property
    def event_rows(self) -> Ints:
        return self._event_rows
