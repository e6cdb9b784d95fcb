"""Plan + batches → chunks of matches. State is carried from batch to batch, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.clauses.tree import Consume, Strategy
from cereus.engine.ingest.batch_reader import NO_INTS, Codes, Events, Front, Ints
from cereus.engine.ingest.idle_keys import Waking
from cereus.engine.ingest.lookahead import Prospects
from cereus.engine.match import forgetting
from cereus.engine.match.history import History
from cereus.engine.match.kernel import (
    CHUNK_FULL,
    FINISHED,
    TOO_MANY_CONFIGURATIONS,
    TOO_MANY_MATCHES,
    TOO_MANY_NODES,
    ChoosingKernel,
    Kernel,
)
from cereus.engine.match.table import HIDDEN
from cereus.engine.match.table_cache import Learned
from cereus.engine.results.match_chunks import Chunks, Found, found_in
from cereus.errors import LimitError
from cereus.limits import Limits
from cereus.plan.plan import ChosenBy, Plan

CHUNK = 1 << 14
"""Matches in one turn of the kernel: small enough for its arrays to stay in the cache."""
TIDY_AT = 1 << 16
"""So many events are remembered before it is worth looking which of them are still needed."""
MOST_NOTES = 1000
"""So many notes about what was left out are kept one by one."""
SWEEP_AT = 1 << 16
"""So many nodes are made before it is worth looking which of them are still alive."""


KINDS = {"sum": 0, "min": 1, "max": 2}
"""The kernel's numbers for totals over all matches."""

OVER = {
    TOO_MANY_NODES: ("nodes", "nodes of partial matches are alive", "add or shorten WITHIN"),
    TOO_MANY_CONFIGURATIONS: (
        "configurations",
        "configurations are alive",
        "add or shorten WITHIN, compare fewer values",
    ),
    TOO_MANY_MATCHES: ("matches_per_event", "matches end", "write LIMIT, NEXT or MAX"),
}
"""For each limit: its name, what there is too much of, and what to do about it."""
SHED = {
    TOO_MANY_NODES: "its partial matches were dropped",
    TOO_MANY_CONFIGURATIONS: "its partial matches were dropped",
    TOO_MANY_MATCHES: "the others were left out",
}


@dataclass(frozen=True)
class Options:
    """What the kernel is told once."""

    windowed: bool
    open_ended: bool
    consuming: bool
    limit: int | None
    max_nodes: int
    with_labels: bool
    max_configurations: int
    max_matches: int
    slots: int
    sweep_at: int = SWEEP_AT
    must_show: bool = False
    watching: bool = False
    totals: tuple[int, ...] = ()
    closes: bool = False
    ends_at_marks: bool = False
    latest: bool = False

    @classmethod
    def of(cls, plan: Plan, limits: Limits) -> Options:
        return cls(
            windowed=plan.query.window is not None,
            open_ended=plan.open_ended,
            consuming=plan.query.consume is not Consume.NONE and not plan.consumes_late,
            limit=None if plan.limited_late and plan.limit else plan.limit,
            max_nodes=limits.nodes,
            with_labels=plan.labelled,
            max_configurations=limits.configurations,
            max_matches=1 << 62 if limits.matches_per_event is None else limits.matches_per_event,
            slots=plan.slots,
            sweep_at=SWEEP_AT,
            must_show=plan.hides and not plan.chosen_late,
            totals=tuple(KINDS[total.kind] for total in plan.totals),
            closes=plan.closes,
            ends_at_marks=plan.ends_at_marks,
            latest=plan.query.strategy is not Strategy.NEXT,
        )


class Runner:
    """Runs one plan over batches of one schema.

    `payload` names columns to remember of the events that can still match; with it (or with
    `ordinals`) the cells of what is found are ordinals, to be looked up in `history`.
    `row_numbers` says what each row is called, when rows do not come in the input's order.
    """

    def __init__(
        self,
        plan: Plan,
        schema: pa.Schema,
        *,
        limits: Limits | None = None,
        payload: tuple[str, ...] = (),
        ordinals: bool = False,
        chunk_size: int | None = None,
        row_numbers: Ints | None = None,
        learned: Learned | None = None,
    ) -> None:
        self.plan, self.payload = plan, payload
        self.limits = limits or Limits()
        self.front = Front(plan, schema, row_numbers)
        self._use(learned or Learned.nothing(plan, self.limits.states))
        self.kernel = self._new_kernel()
        if self.front.prospects is not None:
            self.front.prospects.begin()
        self.history = History()
        self.tidy_at, self.forget_at = TIDY_AT, forgetting.FORGET_AT
        self.forgets = False
        self.history_of_batch = 0
        self.shed: list[str] = []
        self.unsaid = 0
        # rows that were put in order do not sort by their numbers; ordinals always do
        self.uses_ordinals = ordinals or bool(payload) or row_numbers is not None
        self._ordinals: Ints = np.zeros(1, np.int64)
        self._chunks = Chunks(
            chunk_size or CHUNK, with_labels=plan.labelled, totals=len(plan.totals)
        )

    def _use(self, learned: Learned) -> None:
        self.labels, self.table, self.front.known = learned.labels, learned.table, learned.letters
        self.lock = self.front.lock = learned.lock
        if self.plan.looks_ahead:
            self.front.prospects = Prospects(self.table)
        if self.plan.keys_sleep:
            self.front.waking = Waking(self.table, windowed=self.plan.query.window is not None)

    def _new_kernel(self) -> Kernel:
        kind = ChoosingKernel if self.plan.chosen_by is ChosenBy.KERNEL else Kernel
        return kind(self.table, Options.of(self.plan, self.limits))

    @property
    def keys(self) -> int:
        return len(self.front.keys)

    def forget(self) -> None:
        """No key of so far comes again: drop all their state, keep what the table has learned."""
        self.kernel, self.history = self._new_kernel(), History()
        self.front.forget()

    def push(self, batch: pa.RecordBatch) -> Iterator[Found]:
        """Read a batch; the matches that it completes, in chunks."""
        self.tidy()  # not after: the events of what is found last must stay to be looked at
        events = self.front.read(batch)
        if events is not None:
            self._remember(events, batch)
            yield from self.one_by_one(events) if self.plan.consumes_late else self.run(events)

    def _remember(self, events: Events, batch: pa.RecordBatch) -> None:
        events.base = self.history.next_ordinal
        payload = None
        if self.payload:
            taken = batch.select(list(self.payload)).take(pa.array(events.places))
            payload = pa.Table.from_batches([taken])
        floors = events.floors if self.plan.open_ended else NO_INTS
        self.history.append(events.rows, events.times, floors, events.keys, payload)

    def run(self, events: Events) -> Iterator[Found]:
        """Let the kernel read events that the history knows already."""
        if self.front.grouped:
            yield from self._run(events)
            return
        for stretch in events.runs():
            yield from self._run(stretch)
            if self.kernel.has_produced and not self.plan.consumes_late:
                self.kernel.begin_others_anew(int(stretch.keys[0]))

    def one_by_one(self, events: Events) -> Iterator[Found]:
        """The same, where each event waits to see whether the one before it has shown a match."""
        for place in range(len(events)):
            event = events.part(place, place + 1)
            shown = False
            for found in self.run(event):
                shown = shown or bool(np.any(found.labels > HIDDEN))
                yield found
            if shown:
                self.consume(int(event.keys[0]), event.base)

    def consume(self, key: int, ordinal: int) -> None:
        """Partial matches are dropped after an event of a key, as CONSUME BY says."""
        self.kernel.begin_anew(key)
        if self.plan.query.consume is Consume.ANY:
            self.kernel.begin_others_anew(key)

    def _run(self, events: Events) -> Iterator[Found]:
        with self.lock:
            self._know_letters(events)
        history = self.history
        events.known_from, events.known_floors = history.first, history.floors
        events.shown = self._shown()
        self.history_of_batch = events.base - history.first
        self.kernel.feed(events, self.keys)
        yield from self._turns(self.kernel)

    def advance(self, time: int) -> Iterator[Found]:
        """No event before `time` will come; the matches that were waiting for that."""
        self.front.promise(time)
        if self.plan.closes and self.front.clock.path == (self.plan.stream.time,):
            promised = self.front.substreams.progress.promised
            yield from self._expire(self.front.clock.floor_at(promised))

    def finish(self) -> Iterator[Found]:
        """No event will come any more."""
        if self.plan.closes:
            yield from self._expire(np.iinfo(np.int64).max)

    def _expire(self, floor: int) -> Iterator[Found]:
        """Whatever begins before the floor has left its window, in every key."""
        keys = self.kernel.waiting_keys()
        n = len(keys)
        none = np.zeros(n, np.int64)
        events = Events(
            none, none, np.zeros(n, np.int32), none, none, np.full(n, floor), none, keys, keys,
            np.arange(1, n + 1), base=self.history.next_ordinal,
        )  # fmt: skip
        events.shown, events.known_from = self._shown(), self.history.first
        events.known_floors = self.history.floors
        self.kernel.expire(events, self.keys)
        yield from self._turns(self.kernel)

    def _shown(self) -> Ints:
        """What results call the events that are remembered."""
        if not self.uses_ordinals:
            return self.history.rows
        first, end = self.history.first, self.history.next_ordinal
        if first < self._ordinals[0] or end > self._ordinals[-1]:
            self._ordinals = np.arange(first, 2 * end - first + 1)
        return self._ordinals[first - self._ordinals[0] : end - self._ordinals[0]]

    def _know_letters(self, events: Events) -> None:
        """Tell the table what the classes of these events look like."""
        self.table.know(list(self.front.known))

    def _turns(self, kernel: Kernel, ordinals: Ints | None = None) -> Iterator[Found]:
        """What a kernel finds, turn by turn; `ordinals` translates if it counts events from 0."""
        while True:
            chunk = self._chunks.free()
            kernel.use_chunk(chunk)
            with self.lock:
                kernel.load_table()  # another run may have added to it since the last turn
                state = kernel.run()
            kernel.let_go()
            if kernel.match_count:
                yield found_in(chunk, kernel, ordinals)
            if state == FINISHED:
                return
            if state != CHUNK_FULL:
                self._over_limit(state, kernel)
            elif not kernel.match_count:
                self._chunks.grow()
            del chunk

    def _over_limit(self, state: int, kernel: Kernel) -> None:
        """A limit was reached: an error, or, when asked to shed, a note that goes with the
        results."""
        knob, what, advice = OVER[state]
        event, _ = self.kernel.where
        event -= state == TOO_MANY_MATCHES  # it has been left already
        place = min(self.history_of_batch + event, len(self.history) - 1)
        reached = (
            f"more than {getattr(self.limits, knob):,} {what} at row {self.history.rows[place]}"
        )
        key = int(self.history.keys[place])
        where = f" ({self.front.keys.describe(key)})" if self.plan.keys else ""
        if not self.limits.shed:
            raise LimitError(
                f"{reached}{where}\n  in: {self.plan.text}",
                hint=f"{advice}, raise Limits({knob}=…), or go on with less: Limits(shed=True)",
            )
        self._note(f"{reached}{where}: {SHED[state]}")
        if state != TOO_MANY_MATCHES:
            kernel.shed()

    def _note(self, shed: str) -> None:
        """The first notes say what is going on; after that it is how many that counts."""
        if len(self.shed) < MOST_NOTES:
            self.shed.append(shed)
        else:
            self.unsaid += 1
            self.shed[MOST_NOTES:] = [f"… and {self.unsaid:,} times more"]

    # ------------------------------------------------------------ state that outlives the process

    def save(self) -> dict[str, object]:
        """All state, as plain values and arrays; `restore` on a new runner takes it up."""
        self.tidy(at=0)
        return {
            "kernel": self.kernel.save(),
            "subsets": list(self.table.subsets),
            "labels": list(self.labels.shown),
            "ambiguous": self.table.ambiguous,
            "history": self.history.save(),
            "front": self.front.save(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up saved state; what it numbers is numbered as it was then."""
        self._use(Learned.nothing(self.plan, self.limits.states))
        self.table.preload(saved["subsets"])
        self.kernel = self._new_kernel()
        self.front.restore(saved["front"])
        self.history.restore(saved["history"])
        self.labels.shown[:] = saved["labels"]
        self.table.ambiguous = saved["ambiguous"]
        self.kernel.load_table()
        self.kernel.restore(saved["kernel"])

    def tidy(self, *, at: int | None = None) -> None:
        """Forget events that no partial match refers to, strings that none holds, and keys that
        have none and no time to come, once it is worth the work."""
        events, keys = (self.tidy_at, self.forget_at) if at is None else (at, at)
        compared = self.front.compared
        known = len(compared.strings) < compared.forget_at
        if len(self.history) < events and self.keys < keys and known:
            return
        horizon = self.front.horizon(forgets=self.forgets)
        self._pass_time(horizon)
        self.kernel.sweep()
        self._forget_events(self._oldest_needed())
        if compared.strings:
            compared.keep(self.kernel.carried_values())
        if horizon is not None and self.keys >= keys:
            self._forget_keys(horizon)
        self.tidy_at = max(TIDY_AT, 2 * len(self.history))
        self.forget_at = max(forgetting.FORGET_AT, 2 * self.keys)

    def _pass_time(self, horizon: int | None) -> None:
        """Partial matches go that no event can end any more: of a key whose events were left out
        when they had left the window, and, with no event before the horizon, of all keys."""
        floors = self.kernel.floors_of_keys
        if self.front.waking is not None and self.plan.query.window is not None:
            np.maximum(floors, self.front.floors_of_keys()[: len(floors)], out=floors)
        if horizon is not None:
            np.maximum(floors, self.front.clock.floor_at(horizon), out=floors)
            progress = self.front.substreams.progress
            progress.closed = max(progress.closed, horizon)

    def _oldest_needed(self) -> int:
        """The first ordinal that some partial match refers to (after a sweep)."""
        oldest = self.kernel.oldest()
        return self.history.next_ordinal if oldest is None else int(oldest)

    def _forget_events(self, oldest: int) -> None:
        self.history.forget_before(oldest)

    def _forget_keys(self, horizon: int) -> None:
        """Forget the keys that are idle before the horizon; number the others anew."""
        kernel = self.kernel.save()
        idle = self.front.substreams.latest["time"][: self.keys] < horizon
        idle[: self.kernel.key_count] &= forgetting.begun_nowhere(kernel, self.table.initial)
        idle[self._mentioned_keys()] = False
        idle[self._passed_over(kernel["last_position"])] = False
        if not idle.any():
            return
        kept = np.flatnonzero(~idle)
        numbers = forgetting.numbers_of(kept, self.keys)
        self.kernel.restore(forgetting.only(kernel, kept[kept < self.kernel.key_count]))
        self.history.keys = numbers[self.history.keys]
        self.front.keep(kept)
        self._renumber_keys(numbers)

    def _passed_over(self, last: Ints) -> Ints:
        """Keys with events after the last one that the kernel has read, where such an event makes
        a difference to what is to come (`START`)."""
        initial = self.table.initial
        if not self.plan.position_sensitive:
            return NO_INTS
        with self.lock:
            if self.table.expand_gap(initial) == initial:
                return NO_INTS
        read = np.append(last, np.full(self.keys - len(last), -1))
        return np.flatnonzero(self.front.seen[: self.keys] > read + 1)

    def _mentioned_keys(self) -> Codes:
        """Keys that must stay for another reason than their partial matches."""
        return np.zeros(0, np.int32)

    def _renumber_keys(self, numbers: Codes) -> None:
        """Key k has the number numbers[k] now, or -1."""
