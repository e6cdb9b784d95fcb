"""Runs a plan over batches of events: batches in, chunks of matches out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.automata.model import Automaton
from cereus.clauses.tree import Consume
from cereus.engine.costs import Costs
from cereus.engine.ingest.batch_reader import BatchReader, Reading
from cereus.engine.ingest.compared import ComparedColumns
from cereus.engine.ingest.events import Events
from cereus.engine.ingest.idle_keys import IdleKeys
from cereus.engine.ingest.lookahead import LookAhead
from cereus.engine.ingest.shared_letters import Classifier
from cereus.engine.ingest.substreams import Codes, Ints
from cereus.engine.kernel.choosing import ChoosingKernel
from cereus.engine.kernel.counting import CountingKernel
from cereus.engine.kernel.gathering import GatheringKernel
from cereus.engine.kernel.kernel import Kernel
from cereus.engine.kernel.layout import (
    CHUNK_FULL,
    FINISHED,
    FIRST_SHOWN,
    HIDDEN,
    PAST_VALUES,
    TOO_MANY_MATCHES,
)
from cereus.engine.match import forgetting
from cereus.engine.match.functions import FunctionValues
from cereus.engine.match.history import History
from cereus.engine.match.kernel_input import KernelInput
from cereus.engine.match.kernel_options import KernelOptions
from cereus.engine.match.kernel_state import KernelBounds, check_kernel
from cereus.engine.match.letter_strategy import LetterStrategy, PlainLetters
from cereus.engine.match.limit_notes import LimitNotes
from cereus.engine.match.table import TransitionTable
from cereus.engine.match.table_cache import TableCache
from cereus.engine.match.watching import Watcher
from cereus.engine.memory import NO_INTS
from cereus.engine.results.match_chunks import BufferPools, MatchChunk
from cereus.limits import Limits
from cereus.plan.plan import Plan
from cereus.plan.traits import ChosenBy
from cereus.state import checked

CHUNK = 1 << 14
"""Matches in the first turn of the kernel: few, since most batches have few matches."""
LONG_CHUNK = 1 << 15
"""Matches in each later turn, where one turn is not enough. The Python work between two turns was
up to a fifth of a run with millions of matches, and threads wait there for each other. Twice as
many matches do not stay in the processor's cache, which takes a tenth longer."""
TIDY_AT = 1 << 16
"""Look for events that are no longer needed once this many are remembered."""
FOR_EVER = 2**63 - 1
MANY_STATES = 4096
"""Look for states that are no longer in use once this many are known. This is for letters that
carry values: they make new states without end."""


class Runner:
    """Runs one plan over batches of one schema.

    payload      columns to remember of the events that can still match
    ordinals     the cells of matches are ordinals, to be looked up in `history`, and not rows;
                 a payload or row numbers imply it
    row_numbers  the input's row numbers, when its rows were sorted
    cache        what earlier runs of the plan found out about its automaton
    letters      makes the letters that the automaton reads
    watches_keys any event of a key shows how far the time of the key has come; False if `advance`
                 is called after every batch instead
    reader       makes the reader of the batches
    buffers      the buffers for matches, of runners that run one after the other
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
        cache: TableCache | None = None,
        letters: LetterStrategy | None = None,
        watches_keys: bool = True,
        reader: Callable[..., BatchReader] = BatchReader,
        buffers: BufferPools | None = None,
    ) -> None:
        self.plan, self.payload, self._new_reader = plan, payload, reader
        self.schema, self.row_numbers = schema, row_numbers
        self.letters = letters or PlainLetters()
        self.limits = limits or Limits()
        cache = cache or TableCache.empty(plan, self.limits, alone=reader is BatchReader)
        prepared = cache.prepared(schema)
        self.clock, self.options = prepared.clock, KernelOptions.of(plan, self.limits)
        closes_keys = plan.traits.closes and bool(plan.keys) and self.clock.follows_time
        reading = reading_of(plan, watches_keys=watches_keys and closes_keys)
        self._begin(cache, reading, prepared.tests)
        self.history = History()
        self.tidy_at, self.forget_at = TIDY_AT, forgetting.FORGET_AT
        self.forgets = False
        self.history_of_batch = 0
        self._spent = Costs()
        self.expiring = False
        """Whether the matches found now were waiting for their window to pass."""
        self.events_read: list[Events] = []
        """The events of the last batch, for `WaitingMatches`."""
        self.pinned = FOR_EVER
        """The first ordinal that waiting matches need; they need all later events too."""
        self.limit_notes = LimitNotes(self.limits, plan.text)
        # the numbers of sorted rows are not in their order; ordinals always are
        self.uses_ordinals = ordinals or bool(payload) or row_numbers is not None
        self._ordinals: Ints = np.zeros(1, np.int64)
        self._buffers = (buffers or BufferPools()).pool(
            chunk_size or CHUNK,
            with_labels=plan.traits.labelled,
            totals=len(plan.totals) if plan.counts_unlisted else None,
            most=chunk_size or LONG_CHUNK,
        )

    def _begin(self, cache: TableCache, reading: Reading, tests: Classifier) -> None:
        """Make a new reader and a new kernel. They share what the cache knows about the
        automaton."""
        plan, windowed = self.plan, self.plan.query.window is not None
        self.labels, self.table, self.lock = cache.labels, cache.table, cache.lock
        self.chooser_tables = cache.choosers
        cache.users.add(self)
        self.reader = self._new_reader(
            reading,
            self.schema,
            row_numbers=self.row_numbers,
            clock=self.clock,
            compared=ComparedColumns(plan.columns_compared),
            letters=tests,
            known=cache.letters,
            lock=cache.lock,
            lookahead=(
                # a plan that gathers events does not tell which of them matter
                LookAhead(self.table) if plan.traits.looks_ahead and not plan.gathering else None
            ),
            idle_keys=IdleKeys(self.table, windowed=windowed) if plan.traits.keys_sleep else None,
        )
        self.function_values = FunctionValues(self.table.functions, self.reader.compared)
        self.kernel = self._new_kernel()
        self.watchers = self._new_watchers()

    def _new_watchers(self) -> list[Watcher]:
        """New watchers, one for each watched part of the plan."""
        if self.plan.watching is None:
            return []
        slots, compared = self.plan.slots, self.reader.compared
        return [Watcher(part, slots, compared, self.limits) for part in self.plan.watching.parts]

    def _new_kernel(self) -> Kernel:
        kind: type[Kernel] = Kernel
        if self.plan.traits.chosen_by in (ChosenBy.KERNEL, ChosenBy.LONGEST):
            kind = ChoosingKernel
        elif self.plan.gathering is not None:
            kind = GatheringKernel
        return kind(self.table, self.options)

    @property
    def costs(self) -> Costs:
        """Counts of the work so far."""
        return self._spent + self.reader.costs

    @property
    def key_count(self) -> int:
        """The number of known keys."""
        return len(self.reader.key_index)

    def forget(self) -> None:
        """Drop the state of all keys so far, since none of them comes again. Keep the table."""
        self.kernel, self.history = self._new_kernel(), History()
        self.watchers = self._new_watchers()
        self.reader.forget()

    def forget_idle_keys(self) -> None:
        """From now on forget keys that can have no more matches, as far as the order of time so far
        tells."""
        self.forgets = True

    def push(self, batch: pa.RecordBatch) -> Iterator[MatchChunk]:
        """Read a batch and yield the matches that it completes, in chunks."""
        self.tidy()  # before, not after: results still look up the events of the last matches
        self.expiring = False
        events = self.reader.read(batch)
        if len(events):
            events = self._remember(events, batch)
            late = self.plan.traits.consumes_late
            yield from self.one_by_one(events) if late else self.run(events)
        if self.reader.reading.watches_keys:
            keys = self.kernel.waiting_keys()
            yield from self._expire(keys, self.reader.floors_of_keys()[keys])

    def _remember(self, events: Events, batch: pa.RecordBatch) -> Events:
        """Add events to the history, and return them with their ordinals and letters."""
        first = self.history.next_ordinal
        payload = None
        if self.payload:
            taken = batch.select(list(self.payload)).take(pa.array(events.places))
            payload = pa.Table.from_batches([taken])
            self._spent.bytes += payload.nbytes
        floors = events.floors if self.plan.traits.open_ended else NO_INTS
        self.history.append(events.rows, events.times, floors, events.keys, payload)
        events = events.changed(first_ordinal=first)
        self.events_read = [events]
        return self.letters.attach(events, batch, self.reader.known)

    def run(self, events: Events) -> Iterator[MatchChunk]:
        """Let the kernel read events that the history holds. Events in the order in which they came
        are split into groups of one key each; a key may come in several groups."""
        yield from self._run(events if events.grouped else events.part(0, len(events)))

    def one_by_one(self, events: Events) -> Iterator[MatchChunk]:
        """Like `run`, but one event at a time: a match that shows something consumes its events at
        once."""
        for place in range(len(events)):
            event = events.part(place, place + 1)
            shows = False
            for chunk in self.run(event):
                shows = shows or bool(np.any(chunk.labels > HIDDEN))
                yield chunk
            if shows:
                self.consume(int(event.keys[0]), event.first_ordinal)

    def consume(self, key: int, ordinal: int) -> None:
        """Drop partial matches after an event of a key, as CONSUME BY demands."""
        self.kernel.begin_anew(key)
        if self.plan.query.consume is Consume.ANY:
            self.kernel.begin_others_anew(key)

    def _run(self, events: Events) -> Iterator[MatchChunk]:
        for piece in self.letters.pieces(events):
            with self.lock:
                piece = self._number_letters(piece)
            self.kernel.compute_with(self.function_values)
            self.history_of_batch = piece.first_ordinal - self.history.first
            given = KernelInput.of(piece, self.history, self._shown())
            self._watch(given)
            self.kernel.feed(given, self.key_count)
            yield from self._turns(self.kernel)

    def _watch(self, events: KernelInput) -> None:
        """Fill in the columns that the watchers answer for these events, and the column of their
        ordinals."""
        watching = self.plan.watching
        if watching is None:
            return
        events.columns[watching.ordinal] = events.base + np.arange(len(events.classes))
        for watcher in self.watchers:
            watcher.answer(events, self.table.letters, self.key_count, self._limit_of_watcher)

    def _limit_of_watcher(self, state: int, kernel: Kernel) -> None:
        self._report_limit(state, kernel.where[0])
        kernel.shed()

    def advance(self, time: int) -> Iterator[MatchChunk]:
        """Promise that no event before `time` will come, and yield the matches that waited for
        this."""
        self.reader.promise(time)
        if self.plan.traits.closes and self.clock.follows_time:
            promised = self.reader.substreams.progress.promised
            yield from self._expire_all(self.clock.floor_at(promised))

    def finish(self) -> Iterator[MatchChunk]:
        """End the input, and yield the matches that waited for this."""
        if self.plan.traits.closes:
            yield from self._expire_all(FOR_EVER, over=True)

    def _expire_all(self, floor: int, *, over: bool = False) -> Iterator[MatchChunk]:
        """In every key, expire what begins before the floor: it has left its window."""
        keys = self.kernel.waiting_keys()
        yield from self._expire(keys, np.full(len(keys), floor), over=over)

    def _expire(self, keys: Codes, floors: Ints, *, over: bool = False) -> Iterator[MatchChunk]:
        """Expire what begins before the floor of its key: it has left its window. If the input is
        over, everything has."""
        self.expiring = True
        passing = KernelInput.expiring(keys, floors, self.history, self._shown())
        self.kernel.expire(passing, self.key_count, over)
        yield from self._turns(self.kernel)

    def _shown(self) -> Ints:
        """What matches call the remembered events: their rows, or their ordinals."""
        if not self.uses_ordinals:
            return self.history.rows
        first, end = self.history.first, self.history.next_ordinal
        if first < self._ordinals[0] or end > self._ordinals[-1]:
            self._ordinals = np.arange(first, 2 * end - first + 1)
        return self._ordinals[first - self._ordinals[0] : end - self._ordinals[0]]

    def _number_letters(self, events: Events) -> Events:
        """Tell the table which letter each class of these events is. Returns the events with these
        classes."""
        classes, letters = self.letters.numbered(events.classes, events.letters, self.reader.known)
        if self.letters.lasting:
            self.table.know(letters)
        else:
            if self.table.n_states >= MANY_STATES:
                self._forget_states()
            self.table.forget_classes(letters)
        return events if classes is events.classes else events.changed(classes=classes)

    def _forget_states(self) -> None:
        """Renumber the states that are in use, and forget the others."""
        subsets, kept = self.table.subsets, self._states_in_use()
        table = self._new_table(self.plan.runs)
        table.preload([subsets[state] for state in kept])
        table.ambiguous = self.table.ambiguous
        numbers = np.zeros(len(subsets), np.int32)
        numbers[kept] = [table.number(subsets[state]) for state in kept]
        self.table = table
        self.kernel.renumber(table, numbers)
        self._renumber_states(numbers)

    def _new_table(self, automaton: Automaton) -> TransitionTable:
        return TransitionTable(
            automaton,
            self.labels,
            max_states=self.limits.states,
            max_steps=self.limits.steps_per_event,
        )

    def _states_in_use(self) -> list[int]:
        """The states that configurations are in."""
        return [self.table.initial, *self.kernel.carried_states().tolist()]

    def _renumber_states(self, numbers: Codes) -> None:
        """Give state s the number numbers[s]."""

    def _turns(self, kernel: Kernel, ordinals: Ints | None = None) -> Iterator[MatchChunk]:
        """Yield the matches of a kernel, turn by turn; `ordinals` translates them if the kernel
        counts events from 0."""
        steps, nodes = kernel.step_count, kernel.made_count
        try:
            yield from self._counted_turns(kernel, ordinals)
        finally:
            self._spent.steps += kernel.step_count - steps
            self._spent.nodes += kernel.made_count - nodes

    def _counted_turns(self, kernel: Kernel, ordinals: Ints | None) -> Iterator[MatchChunk]:
        while True:
            buffer = self._buffers.free()
            kernel.use_chunk(buffer)
            with self.lock:
                kernel.load_table()  # another run may have added to the table since the last turn
                state = kernel.run()
            kernel.let_go()
            if kernel.match_count:
                yield MatchChunk.written(buffer, kernel, ordinals)
            if state == FINISHED:
                return
            if state != CHUNK_FULL:
                self._limit_reached(state, kernel)
            elif kernel.match_count:
                self._buffers.filled()
            else:
                self._buffers.grow()
            del buffer

    def _limit_reached(self, state: int, kernel: Kernel) -> None:
        """Report that a limit was reached. Shed partial matches if that is allowed."""
        event, _ = self.kernel.where
        self._report_limit(state, event - (state == TOO_MANY_MATCHES))  # left already
        if state != TOO_MANY_MATCHES:
            kernel.shed()

    def _report_limit(self, state: int, event: int) -> None:
        """Report that a limit was reached at an event of the batch."""
        place = min(self.history_of_batch + event, len(self.history) - 1)
        where = f"row {self.history.rows[place]}"
        if self.plan.keys:
            where += f" ({self.reader.key_index.describe(int(self.history.keys[place]))})"
        self.limit_notes.reached(state, where)

    @property
    def shed(self) -> list[str]:
        """Notes about what was left out because a limit was reached."""
        return self.limit_notes.notes

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
            "front": self.reader.save(),
            **({"watched": [w.save() for w in self.watchers]} if self.watchers else {}),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Take up saved state. Everything keeps the number that it had."""
        alone = self._new_reader is BatchReader
        cache = TableCache.empty(self.plan, self.limits, alone=alone)
        cache.table.restore(saved["subsets"], self.plan.slots)
        self._begin(cache, self.reader.reading, self.reader.letters)
        self.reader.restore(saved["front"])
        self.history.restore(
            saved["history"],
            self.key_count,
            timed=self.plan.stream.time is not None,
            with_floors=self.plan.traits.open_ended,
            payload=pa.schema([self.schema.field(name) for name in self.payload])
            if self.payload
            else None,
        )
        self.labels.restore(saved["labels"])
        self.table.ambiguous = checked.flag(saved["ambiguous"], "whether matches are found twice")
        self.kernel.load_table()
        check_kernel(saved["kernel"], self._kernel_bounds())
        self.kernel.restore(saved["kernel"])
        if self.watchers:
            watched = checked.of_type(saved["watched"], list, "what is watched")
            for watcher, state in zip(self.watchers, watched, strict=True):
                watcher.restore(state, self.key_count, self.history.next_ordinal)

    def _kernel_bounds(self) -> KernelBounds:
        return KernelBounds(
            keys=self.key_count,
            states=self.table.n_states,
            slots=self.plan.slots,
            labels=FIRST_SHOWN + len(self.labels.shown),
            first=self.history.first,
            history_keys=self.history.keys,
            totals=len(self.plan.totals) if isinstance(self.kernel, CountingKernel) else None,
            past=_past_shape(self.plan),
            with_sets=self.table.with_sets,
            outlives=self.plan.scoped
            and self.plan.query.window is not None
            and not self.plan.traits.open_ended,
        )

    def tidy(self, *, at: int | None = None) -> None:
        """Forget events and strings that no partial match refers to, and keys that can have no more
        matches. Does nothing until there is enough to forget."""
        events, keys = (self.tidy_at, self.forget_at) if at is None else (at, at)
        compared = self.reader.compared
        known = len(compared.strings) < compared.forget_at
        if len(self.history) < events and self.key_count < keys and known:
            return
        horizon = self.reader.horizon(forgets=self.forgets)
        self._pass_time(horizon)
        self.kernel.sweep()
        self._forget_events(self._oldest_needed())
        if compared.strings:
            kernels = [self.kernel, *(watcher.kernel for watcher in self.watchers)]
            compared.keep(np.concatenate([each.carried_values() for each in kernels]))
        if self.key_count >= keys and (horizon is not None or self._forgets_at_once):
            self._forget_keys(horizon)
        self.tidy_at = max(TIDY_AT, 2 * len(self.history))
        self.forget_at = max(forgetting.FORGET_AT, 2 * self.key_count)

    def _pass_time(self, horizon: int | None) -> None:
        """Raise the floors of keys, so that partial matches go that no event can complete any more.
        Those are partial matches of a key whose events were left out after they left the window,
        and, with a horizon, those of all keys that began too long before it."""
        floors = self.kernel.floors_of_keys
        if self.reader.idle_keys is not None and self.plan.query.window is not None:
            np.maximum(floors, self.reader.floors_of_keys()[: len(floors)], out=floors)
        if horizon is not None:
            np.maximum(floors, self.clock.floor_at(horizon), out=floors)
            progress = self.reader.substreams.progress
            progress.closed = max(progress.closed, horizon)

    def _oldest_needed(self) -> int:
        """The first ordinal that some partial match refers to (after a sweep)."""
        oldest = self.kernel.oldest()
        return min(self.pinned, self.history.next_ordinal if oldest is None else int(oldest))

    def _forget_events(self, oldest: int) -> None:
        self.history.forget_before(oldest)

    @property
    def _forgets_at_once(self) -> bool:
        """Whether an idle key can be forgotten at any time. It can without a window in time:
        nothing expires then, so a key with no partial match is like a new one. The only loss is
        that the order of its times is no longer checked."""
        return self.forgets and bool(self.plan.keys) and not self.clock.follows_time

    def _forget_keys(self, horizon: int | None) -> None:
        """Forget the keys that are idle (before the horizon, if there is one), and renumber the
        others."""
        kernel = self.kernel.save()
        idle = np.ones(self.key_count, bool)
        if horizon is not None:
            idle = self.reader.substreams.latest["time"][: self.key_count] < horizon
        idle[: self.kernel.key_count] &= forgetting.begun_nowhere(kernel, self.table.initial)
        idle[self._mentioned_keys()] = False
        idle[self._passed_over(kernel["last_position"])] = False
        if idle.any():
            self._keep_keys(kernel, np.flatnonzero(~idle))

    def drop_keys(self, gone: Ints) -> None:
        """Forget keys with all their partial matches, and renumber the others."""
        if not len(gone):
            return
        kept = np.setdiff1d(np.arange(self.key_count), gone)
        self._keep_keys(self.kernel.save(), kept)
        self.kernel.sweep()
        self._forget_events(self._oldest_needed())

    def _keep_keys(self, kernel: dict[str, Any], kept: Ints) -> None:
        """Keep only these keys; `kernel` is the saved state of the kernel."""
        numbers = forgetting.numbers_of(kept, self.key_count)
        self.kernel.restore(forgetting.only(kernel, kept[kept < self.kernel.key_count]))
        for watcher in self.watchers:
            watcher.keep(kept)
        self.history.keys = numbers[self.history.keys]
        self.reader.keep(kept)
        self._renumber_keys(numbers)

    def _passed_over(self, last: Ints) -> Ints:
        """Keys with events after the last one that the kernel has read, if such an event can change
        later matches (`START`)."""
        initial = self.table.initial
        if not self.plan.traits.position_sensitive:
            return NO_INTS
        with self.lock:
            if self.table.expand_gap(initial) == initial:
                return NO_INTS
        read = np.append(last, np.full(self.key_count - len(last), -1))
        return np.flatnonzero(self.reader.seen_by_key(self.key_count) > read + 1)

    def _mentioned_keys(self) -> Codes:
        """Keys that must stay although they may have no partial match."""
        if self.pinned >= self.history.next_ordinal:
            return np.zeros(0, np.int32)
        return np.unique(self.history.keys[self.pinned - self.history.first :])

    def _renumber_keys(self, numbers: Codes) -> None:
        """Give key k the number numbers[k]; -1 is a key that was forgotten."""


def _past_shape(plan: Plan) -> tuple[int, int] | None:
    if not plan.past:
        return None
    return len(plan.past), PAST_VALUES + max(len(kind.columns) for kind in plan.past)


def reading_of(plan: Plan, *, watches_keys: bool) -> Reading:
    """How a plan reads its stream."""
    return Reading(
        tests=plan.tests,
        stream=plan.stream,
        keys=plan.keys,
        streams=tuple(plan.query.streams),
        counts_positions=plan.traits.position_sensitive,
        grouped=not (plan.keys and plan.query.consume is Consume.ANY),
        watches_keys=watches_keys,
    )
