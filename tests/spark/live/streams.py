"""Live queries without Spark: buckets in memory, driven as Spark drives them."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import cereus
from cereus.engine.results.event_rows import EventShape
from cereus.language.compiled import EventwiseQuery
from cereus.language.pattern import PatternQuery
from cereus.spark.batch.eventwise import EventwiseTask
from cereus.spark.live import bucket as buckets_of
from cereus.spark.live.bucket import Bucket, BucketOutput
from cereus.spark.live.packing import Packing, from_bytes
from cereus.spark.live.recipe import AT, BUCKET, LATE, Recipe
from cereus.spark.live.state.copies import Copies
from cereus.spark.live.state.warm import Warm
from cereus.spark.worker import Task

from ..market import _plain

SECOND = 1_000_000


class Memory:
    """A store of one bucket, and its timer."""

    def __init__(self) -> None:
        self.value: tuple[str, bytes] | None = None
        self.chunks: dict[str, bytes] = {}
        self.timers: set[int] = set()

    def read(self) -> tuple[str, bytes] | None:
        return self.value

    def write(self, description: str) -> None:
        self.value = (description, b"")

    def chunk(self, name: str) -> bytes:
        return self.chunks[name]

    def set_chunk(self, name: str, data: bytes | None) -> None:
        if data is None:
            del self.chunks[name]
        else:
            self.chunks[name] = data

    def wake(self, at: int, instead_of: int | None) -> None:
        if instead_of is not None:
            self.timers.remove(instead_of)
        self.timers.add(at)

    @property
    def size(self) -> int:
        return len(self.value[1] if self.value else b"") + sum(map(len, self.chunks.values()))


def recipe_of(
    query: cereus.Query, schema: pa.Schema, *, late: bool = False, on_change: str = "refuse"
) -> Recipe:
    """What `Live.recipe` makes, for events with the columns `id` and `ts`."""
    order = [("ts",), ("id",)]
    executor = query.executor(schema)
    task: Any
    if isinstance(query.compiled, EventwiseQuery):
        task = EventwiseTask(query.compiled, ("id",), query.keys)
        found = _eventwise_schema(executor.schema)
    else:
        plan = query.compiled.plan(schema)
        shape = EventShape(("id",), not plan.query.count)
        task = Task(query.compiled, shape, query.keys, ())
        made = task.executor(schema).schema
        names = [name for name in made.names if name not in ("start", "end")]
        task = Task(query.compiled, shape, query.keys, tuple(names))
        found = pa.schema([made.field(name) for name in names])
    if late:
        found = found.append(pa.field(LATE, pa.struct([schema.field("id")])))
    return Recipe(
        task,
        schema,
        found,
        tuple(order),
        True,
        None,
        60 * SECOND,
        executor.waits_for_time,
        late,
        on_change,
        query.text,
        f"{query.text} {late}",
        carries=shape_of(query, schema),
    )


def shape_of(query: cereus.Query, schema: pa.Schema) -> str | None:
    compiled = query.compiled
    shaped = compiled.shaped(schema) if isinstance(compiled, PatternQuery) else None
    return None if shaped is None else shaped.shape.state_identity


def _eventwise_schema(schema: pa.Schema) -> pa.Schema:
    event = pa.struct([("id", pa.int64())])
    shown = {"position": ("event", event), "constituents": ("events", pa.list_(event))}
    return pa.schema([shown.get(each.name, each) for each in schema])


class Stream:
    """A live query as Spark runs it: micro-batches, a watermark, retries.

    `dice` makes some attempts fail after all their work, gives a bucket now to this worker and then
    to that one, and makes some workers forget everything.
    """

    def __init__(
        self,
        recipe: Recipe,
        delay: float,
        *,
        buckets: int = 1,
        dice: random.Random | None = None,
        forgetting: float = 0.2,
        copies: Path | None = None,
    ) -> None:
        self.forgetting, self.copies = forgetting, copies
        self.recipe, self.delay, self.dice = recipe, int(delay * 1000), dice
        self.stores = [Memory() for _ in range(buckets)]
        self.packing = Packing(tuple(range(buckets)), recipe.packed, "ts")
        self.workers = [Warm() for _ in range(1 if dice is None else dice.randint(1, 3))]
        self.watermark = self.latest = 0
        self.outputs: list[BucketOutput] = []

    def batch(self, events: pa.Table) -> None:
        """One micro-batch; without events it is one that Spark runs for the watermark alone."""
        for number, store in enumerate(self.stores):
            arrived = self._packed(events, number) if events.num_rows else None
            woken = bool(store.timers) and min(store.timers) <= self.watermark
            if arrived is not None or woken:
                self._step(number, arrived or [], woken=arrived is None)
        if events.num_rows:
            times = events.column("ts").cast(pa.int64()).to_numpy()
            self.latest = max(self.latest, int(times.max()) // 1000 - self.delay)
        self.watermark = max(self.watermark, self.latest)

    def _packed(self, events: pa.Table, number: int) -> list[bytes]:
        keys = self.recipe.matching.sorted_by  # type: ignore[attr-defined]
        columns = {name: events.column(name) for name in self.recipe.events.names}
        times = events.column("ts").cast(pa.int64())
        rows = [str([row]) for row in zip(*(_values(events, k) for k in keys), strict=True)]
        buckets = [sum(row.encode()) % len(self.stores) for row in rows] or [0] * len(times)
        table = pa.table({BUCKET: pa.array(buckets, pa.int32()), AT: times, **columns})
        packed = self.packing.packed(table.combine_chunks().to_batches()[0]).to_pylist()
        return [row["data"] for row in packed if row[BUCKET] == number]

    def _step(self, number: int, arrived: list[bytes], *, woken: bool) -> None:
        if self.dice is not None and self.dice.random() < 0.2:
            self._take_a_worker()
            failed = copy.deepcopy(self.stores[number])
            list(self._bucket(number, failed).step(arrived, self.watermark, woken=woken))
        self._take_a_worker()
        store = self.stores[number]
        (fired,) = store.timers if woken else (0,)
        bucket = self._bucket(number, store)
        self.outputs += bucket.step(arrived, self.watermark, woken=woken)
        if woken:
            store.timers.discard(fired)

    def _bucket(self, number: int, store: Memory) -> Bucket:
        copies = None if self.copies is None else Copies(self.copies / str(number))
        return Bucket(number, self.recipe, store, copies)

    def _take_a_worker(self) -> None:
        place = 0 if self.dice is None else self.dice.randrange(len(self.workers))
        if self.dice is not None and self.dice.random() < self.forgetting:
            self.workers[place] = Warm()
        buckets_of.WARM = self.workers[place]

    def run(self, batches: Sequence[pa.Table]) -> None:
        """All batches; now and then Spark has time for one without events, and so at the end."""
        for events in batches:
            self.batch(events)
            if self.dice is None or self.dice.random() < 0.5:
                self.batch(events.slice(0, 0))
        self.batch(events.slice(0, 0))

    @property
    def rows(self) -> list[dict[str, Any]]:
        found = [from_bytes(each.data).to_pylist() for each in self.outputs if each.data]
        return [row for part in found for row in part]

    def total(self, name: str) -> int:
        return sum(getattr(each, name) for each in self.outputs)


def _values(events: pa.Table, path: tuple[str, ...]) -> list[Any]:
    values = events.column(path[0]).to_pylist()
    for step in path[1:]:
        values = [None if value is None else value[step] for value in values]
    return values


def shuffled(events: pa.Table, seconds: float, dice: random.Random) -> pa.Table:
    """The events as they may arrive when none is later than so many seconds."""
    times = events.column("ts").cast(pa.int64()).to_numpy() / SECOND
    order = np.argsort(times + [dice.uniform(0, seconds) for _ in times], kind="stable")
    return events.take(pa.array(order))


def parts(events: pa.Table, count: int, dice: random.Random) -> list[pa.Table]:
    """The events in several batches."""
    cuts = sorted(dice.sample(range(1, events.num_rows), count - 1))
    ends = [*cuts, events.num_rows]
    return [events.slice(a, b - a) for a, b in zip([0, *cuts], ends, strict=True)]


def with_end(events: pa.Table) -> pa.Table:
    """With one event of no type, a day later: it drives the watermark past all others."""
    day = 86_400 * SECOND
    last = dict.fromkeys(events.column_names)
    end = int(events.column("ts").cast(pa.int64()).to_numpy().max()) + day
    last |= {"id": -1, "seq": 10**12, "clock": 1e12}
    row = pa.Table.from_pylist([last], events.schema.remove(events.schema.get_field_index("ts")))
    times = pa.array([end]).cast(events.schema.field("ts").type)
    return pa.concat_tables([events, row.append_column("ts", times).select(events.column_names)])


def matches(rows: list[dict[str, Any]], query: cereus.Query) -> Counter[Any]:
    """The rows of a live query as `market.locally` has them."""
    keys = [".".join(path) for path in query.keys]
    found: Counter[Any] = Counter()
    for row in rows:
        held = {name: row[name] for name in query.variables}
        ids = tuple(event["id"] for event in row["events"])
        times = (row.get("start_time"), row.get("end_time"))
        found[(_plain({k: row[k] for k in keys}), *times, ids, _plain(held))] += 1
    return found


def results(rows: list[dict[str, Any]]) -> Counter[Any]:
    """Any rows, with the ids of events for the row numbers that a local run has."""
    names = {"event": "position", "events": "constituents"}

    def numbered(name: str, value: Any) -> Any:
        if name == "event":
            return value["id"]
        return [each["id"] for each in value] if name == "events" else value

    return Counter(
        repr([(names.get(name, name), numbered(name, value)) for name, value in row.items()])
        for row in rows
    )
