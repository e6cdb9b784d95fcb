"""The one interface behind which every language runs: batches in, result batches out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.costs import Costs
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.ingest.clock import deadline_span
from cereus.engine.ingest.shared_letters import SharedLetters
from cereus.engine.match.after.following import WaitingMatches
from cereus.engine.match.after.skipping import SkippingRunner
from cereus.engine.match.after.timeouts import Timeouts, timeout_payload
from cereus.engine.match.counting_runner import CountingRunner
from cereus.engine.match.letter_strategy import LetterStrategy, PlainLetters
from cereus.engine.match.runner import Runner
from cereus.engine.match.strategies.listing import ListingRunner
from cereus.engine.match.strategies.replay import ReplayRunner
from cereus.engine.match.table_cache import TableCache
from cereus.engine.match.value_letters import ValueLetters
from cereus.engine.parallel.sharing import Sharing
from cereus.engine.parallel.spread import Spread
from cereus.engine.results.counts import CountRows
from cereus.engine.results.event_rows import EventRows, EventShape
from cereus.engine.results.listed_counts import ListedCountRows
from cereus.engine.results.match_chunks import MatchChunk
from cereus.engine.results.results import Results
from cereus.engine.results.rows import PositionRows, needed_payload
from cereus.engine.results.timeout_rows import TimeoutRows
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.traits import ChosenBy


def runner_for(plan: Plan, schema: pa.Schema, **options: Any) -> Runner:
    """A runner of the class and with the letters that a plan needs."""
    return runner_kind(plan)(plan, schema, letters=letters_for(plan), **options)


def runner_kind(plan: Plan) -> type[Runner]:
    """The class of runner for a plan: one that counts matches, chooses among them, or lists
    them."""
    if plan.counts_unlisted:
        return CountingRunner
    kinds = SKIPPING if plan.query.skip is not None else RUNNERS
    return kinds.get(plan.traits.chosen_by, kinds[ChosenBy.AUTOMATON])


class SkippingListing(SkippingRunner, ListingRunner):
    """Lists all matches of an event, chooses, and skips as AFTER MATCH SKIP says."""


class SkippingReplay(SkippingRunner, ReplayRunner):
    """Reads windows once more to choose, and skips as AFTER MATCH SKIP says."""


RUNNERS: dict[ChosenBy, type[Runner]] = {
    ChosenBy.AUTOMATON: Runner,
    ChosenBy.LISTING: ListingRunner,
    ChosenBy.REPLAY: ReplayRunner,
}
SKIPPING: dict[ChosenBy, type[Runner]] = {
    ChosenBy.AUTOMATON: SkippingRunner,
    ChosenBy.LISTING: SkippingListing,
    ChosenBy.REPLAY: SkippingReplay,
}


def letters_for(plan: Plan) -> LetterStrategy:
    """The letters of a run. They carry values if slots cannot decide how events are compared."""
    return ValueLetters(plan.compared) if plan.traits.remembers_values else PlainLetters()


class Executor(ABC):
    """Runs one query over the batches of one stream."""

    schema: pa.Schema
    """The schema of the results."""
    waits_for_time = False
    """`advance` may complete results; else it only helps to forget."""
    emits_late = False
    """A result may be emitted after later events were read."""

    @property
    @abstractmethod
    def header(self) -> dict[str, Any]:
        """The properties that a snapshot must share with the query that restores it."""

    @abstractmethod
    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch and yield the results that it completes."""

    def defer(self) -> None:
        """Allow results to wait until `finish`, where that is quicker: nobody looks before the
        stream is read to its end. Call this before the first batch."""
        return

    def share(self, shelf: dict[Any, Any]) -> None:
        """Share what this query finds out about the events with other queries that read the same
        events, each of them all at once. `shelf` holds what they share. Call this before the first
        batch."""
        return

    def pieces(self, spread: Spread) -> Iterator[Callable[[], list[pa.RecordBatch]]]:
        """The results of `finish`, where results were deferred, as pieces of work: threads can
        compute them at the same time. They are in the order of the results."""
        raise NotImplementedError

    def skip_to(self, row: int) -> None:
        """Let the next batch begin at this row of the input; the rows since the last one do not
        matter."""
        raise NotImplementedError

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        """Promise that no event before `time` will come, and yield the results that this
        completes."""
        return iter(())

    def forget_idle(self) -> None:
        """From now on forget keys that can have no more matches, as far as the order of time so far
        tells (`match.forgetting`)."""
        return

    def finish(self) -> Iterator[pa.RecordBatch]:
        """End the stream and yield the results that this completes."""
        return iter(())

    def taken(self, column: str | None) -> Iterator[tuple[int, npt.NDArray[np.int64]]] | None:
        """The matches in place of `finish`, for a caller that needs no results, where they were
        deferred.

        Yields, for some matches at a time, how many there are, and which rows the variable of a
        column takes in them; for None, the last row of each. Is None if the executor has results
        only.
        """
        return None

    def stop(self) -> Iterator[pa.RecordBatch]:
        """The results that were deferred and are decided by now, in place of `finish`. For a stream
        that goes on and is not read to its end."""
        return iter(())

    @abstractmethod
    def forget(self) -> None:
        """Drop the state of all keys so far: none of them comes again. For streams sorted by
        key."""

    @property
    def shed(self) -> list[str]:
        """What was left out because a limit was reached; empty when the results are complete."""
        return []

    @property
    def costs(self) -> Costs:
        """Counts of the work so far, as far as the language counts it."""
        return Costs()

    @abstractmethod
    def save(self) -> bytes:
        """All state, as a snapshot."""

    @abstractmethod
    def restore(self, snapshot_bytes: bytes) -> None:
        """Go on from a snapshot of the same query."""

    @property
    def readers(self) -> tuple[BatchReader, ...]:
        """The readers of the batches that are pushed; each reads every batch once. () if there are
        none."""
        return ()

    def sharing(self) -> Sharing | None:
        """This executor as one of several that share the reading of an input, if it can."""
        return None

    @property
    @abstractmethod
    def events(self) -> pa.Table | None:
        """The remembered events, if columns of them are kept."""

    @property
    @abstractmethod
    def event_rows(self) -> npt.NDArray[np.int64]:
        """The row numbers of the remembered events."""


def results_of(runner: Runner, schema: pa.Schema, shape: EventShape | None) -> Results:
    """Results of the kind that a plan needs: counts, events, or row numbers."""
    if runner.plan.query.count:
        kind = CountRows if runner.plan.counts_unlisted else ListedCountRows
        return kind(runner, schema, shape)
    return PositionRows(runner, schema) if shape is None else EventRows(runner, schema, shape)


class PatternExecutor(Executor):
    """Runs a plan on the automaton kernel.

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
        cache: TableCache | None = None,
        reader: Callable[..., BatchReader] = BatchReader,
    ) -> None:
        self.plan = plan
        unfollowed, timeouts = plan.query.unfollowed, plan.timeouts
        self.waits_for_time = plan.traits.closes or unfollowed is not None or plan.query.timeouts
        self.emits_late = plan.traits.emits_late
        carried = () if shape is None else shape.payload(plan.query)
        carried = (*carried, *(path[0] for path in plan.followed_columns))
        carried = carried if timeouts is None else (*carried, *timeout_payload(plan))
        if not plan.counts_unlisted:
            carried = (*carried, *(total.attribute[0] for total in plan.totals))
        self.runner = runner_for(
            plan,
            schema,
            limits=limits,
            payload=tuple(dict.fromkeys((*needed_payload(plan.query), *keep, *carried))),
            row_numbers=row_numbers,
            cache=cache,
            reader=reader,
        )
        self.following: WaitingMatches | None = None
        if unfollowed is not None:
            span = deadline_span(unfollowed.window, plan.stream, schema, "NOT FOLLOWED BY")
            self.following = WaitingMatches(self.runner, plan.followers, span)
        self.results = results_of(self.runner, schema, shape)
        self._written = 0
        self.schema = self.results.schema
        self.timeouts: TimeoutRows | None = None
        if timeouts is not None:
            partial = Timeouts(self.runner, timeouts, runner_for)
            self.timeouts = TimeoutRows(self.results, partial)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        chunks = self.runner.push(batch)
        if self.following:
            chunks = self.following.read(chunks)
        return self._results(chunks)

    def _results(
        self, chunks: Iterator[MatchChunk], timed_out: Iterable[pa.RecordBatch] = ()
    ) -> Iterator[pa.RecordBatch]:
        """The results of matches, then `timed_out`; counts the bytes that are written."""
        batches = self.timeouts.read(chunks) if self.timeouts else self.results.batches(chunks)
        for batch in chain(batches, timed_out):
            self._written += batch.nbytes
            yield batch
            del batch  # the memory of a batch may be used again

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        chunks = self.runner.advance(time)
        if self.following:
            chunks = chain(self.following.read(chunks), self.following.advance(time))
        return self._results(chunks, self.timeouts.advance(time) if self.timeouts else ())

    def finish(self) -> Iterator[pa.RecordBatch]:
        chunks = self.runner.finish()
        if self.following:
            chunks = chain(self.following.read(chunks), self.following.finish())
        return self._results(chunks, self.timeouts.finish() if self.timeouts else ())

    @property
    def readers(self) -> tuple[BatchReader, ...]:
        return (self.runner.reader,)

    def sharing(self) -> Sharing | None:
        if self.following is not None or self.timeouts is not None:
            return None
        self.results.notes_keys = bool(self.plan.keys)
        return Sharing(self.readers, self.results.order_of_last)

    def skip_to(self, row: int) -> None:
        self.runner.reader.number_rows(row)

    def share_letters(self, shared: SharedLetters) -> None:
        """Evaluate the tests together with other executors that read the same batches."""
        self.runner.reader.share_letters(shared.view(self.plan))

    def forget_idle(self) -> None:
        self.runner.forget_idle_keys()

    def forget(self) -> None:
        self.runner.forget()
        if self.following:
            self.following.forget()
        if self.timeouts:
            self.timeouts.starts.forget()

    @property
    def shed(self) -> list[str]:
        return self.runner.shed

    @property
    def costs(self) -> Costs:
        return self.runner.costs + Costs(bytes=self._written)

    @property
    def header(self) -> dict[str, Any]:
        return {"version": self.plan.version, "query fingerprint": self.plan.fingerprint}

    def save(self) -> bytes:
        return snapshot.dump(self.header, self.state())

    def state(self) -> dict[str, Any]:
        """All state, as plain values."""
        state = self.runner.save()
        if self.following:
            state = {**state, "waiting": self.following.save()}
        if self.timeouts:
            state = {**state, "open": self.timeouts.starts.save()}
        return state

    def restore(self, snapshot_bytes: bytes) -> None:
        self.take_up(snapshot.load(snapshot_bytes, self.header))

    def take_up(self, state: dict[str, Any]) -> None:
        """Go on from a state of the same automaton."""
        with snapshot.restoring():
            self.runner.restore(state)
            if self.following:
                self.following.restore(state["waiting"])
            if self.timeouts:
                self.timeouts.starts.restore(state["open"])

    def adopt(self, state: dict[str, Any]) -> None:
        """Go on from the state of a query that differs only in the constants of its tests and in
        its output. That query may remember columns of events in another order."""
        history = dict(state["history"])
        if history["payload"] is not None:
            history["payload"] = history["payload"].select(list(self.runner.payload))
        self.take_up({**state, "history": history})

    @property
    def events(self) -> pa.Table | None:
        return self.runner.history.payload

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return self.runner.history.rows
