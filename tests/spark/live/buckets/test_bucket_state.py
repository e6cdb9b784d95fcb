"""The state of buckets, without Spark: it is taken up from what older versions wrote, does not grow
with the keys that ever were, and is written only where something changed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus.spark.live import bucket as buckets_of
from cereus.spark.live.state import copies, journal
from cereus.spark.live.state.warm import Warm
from tests.spark.live.streams import (
    SECOND,
    Memory,
    Stream,
    matches,
    parts,
    recipe_of,
    shuffled,
    with_end,
)
from tests.spark.market import QUERIES, STREAM, locally, random_events
from tests.volume import usually

from . import recorded_state as recorded
from .recorded_state import BATCHES, RECORDED_BATCHES, batch

NAMES = sorted(path.stem for path in recorded.RECORDED.glob("*.json"))


def forget_everything() -> None:
    buckets_of.WARM.__init__()  # type: ignore[misc]


# ---------------------------------------------------------------- what was recorded


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_state_is_gone_on_from(name: str) -> None:
    whole = recorded.fresh()
    whole.run([batch(number) for number in range(BATCHES)])
    forget_everything()
    stream, before = recorded.read(name)
    stream.run([batch(number) for number in range(RECORDED_BATCHES, BATCHES)])
    assert sorted(before + recorded.found(stream)) == recorded.found(whole)
    assert before and len(before) < len(recorded.found(whole))


def test_there_is_a_recorded_state_of_every_kind() -> None:
    heads = [
        json.loads(store.value[0])["head"] for n in NAMES for store in recorded.read(n)[0].stores
    ]
    assert any("steps" not in head for head in heads)
    assert any(head.get("steps") for head in heads)


# ---------------------------------------------------------------- events since a snapshot


@pytest.mark.parametrize("number", range(0, len(QUERIES), 3))
def test_an_engine_is_made_anew_from_a_snapshot_and_the_events_since(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one snapshot, at the beginning, and a worker that remembers nothing."""
    monkeypatch.setattr(journal, "READ_TO_SNAPSHOT", 10**9)
    events, query = random_events(number), cereus.compile(QUERIES[number], stream=STREAM)
    dice = random.Random(number)
    batches = parts(shuffled(events, 5, dice), 9, dice)
    batches[-1] = with_end(batches[-1])
    stream = Stream(recipe_of(query, events.schema), 6)
    for each in [*batches, events.slice(0, 0)]:
        forget_everything()
        stream.batch(each)
    assert matches(stream.rows, query) == locally(events, query)


def head(store: Memory) -> dict[str, Any]:
    assert store.value is not None
    found: dict[str, Any] = json.loads(store.value[0])["head"]
    return found


def test_snapshots_are_far_apart_where_they_are_larger_than_what_is_read() -> None:
    stream = Stream(recipe_of(recorded.QUERY, recorded.SCHEMA), 4)
    snapshots = []
    for number in range(40):
        stream.batch(batch(number).slice(0, 3))
        snapshots.append(head(stream.stores[0])["snapshot"])
        assert len(head(stream.stores[0])["steps"]) <= journal.MOST_STEPS
    assert 3 < len(set(snapshots)) < 20


def test_a_worker_that_remembers_reads_nothing_but_the_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Memory, "chunk", lambda *_: pytest.fail("a piece was read"))
    forget_everything()
    stream = recorded.fresh()
    for number in range(BATCHES):
        stream.batch(batch(number))
    assert stream.total("matches") > 0


# ---------------------------------------------------------------- several workers


@pytest.mark.parametrize("number", usually(range(0, len(QUERIES), 3), 2))
@pytest.mark.parametrize("copied", [True, False])
def test_a_bucket_goes_from_worker_to_worker(
    number: int, copied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each catches up with what the others have read, from copies, some of them damaged, or from
    the store."""
    monkeypatch.setattr(copies, "SMALLEST", 0)
    events, query = random_events(number), cereus.compile(QUERIES[number], stream=STREAM)
    for seed in range(2):
        dice = random.Random(f"{number} {seed}")
        monkeypatch.setattr(journal, "READ_TO_SNAPSHOT", dice.choice([2, 50, 10**9]))
        batches = parts(shuffled(events, 5, dice), 15, dice)
        batches[-1] = with_end(batches[-1])
        folder = tmp_path / str(seed) if copied else None
        stream = Stream(recipe_of(query, events.schema), 6, dice=dice, forgetting=0, copies=folder)
        stream.workers = [Warm(), Warm(), Warm()]
        for each in [*batches, events.slice(0, 0)]:
            damage(folder, dice)
            stream.batch(each)
        assert matches(stream.rows, query) == locally(events, query)


def damage(folder: Path | None, dice: random.Random) -> None:
    files = sorted(folder.rglob("*-*")) if folder is not None else []
    for path in files[: dice.randint(0, 1)]:
        path.write_bytes(path.read_bytes()[: dice.randint(0, 100)])


def test_a_worker_catches_up_with_what_was_read_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two workers in turn: the second takes up a snapshot once, and no events are read twice."""
    monkeypatch.setattr(journal, "READ_TO_SNAPSHOT", 10**9)
    read: list[str] = []
    get = Memory.chunk
    monkeypatch.setattr(Memory, "chunk", lambda s, name: (read.append(name), get(s, name))[1])
    stream = recorded.fresh()
    workers = [Warm(), Warm()]
    for number in range(BATCHES):
        stream.workers = [workers[number % 2]]
        stream.batch(batch(number))
    assert stream.total("matches") > 0
    engines = [name for name in read if name.startswith(f"{journal.ENGINE}/")]
    assert len(engines) == len(stream.stores)
    assert len(read) <= 2 * len(stream.stores) * BATCHES


def test_what_another_worker_of_the_machine_has_written_is_not_read_from_the_store(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Memory, "chunk", lambda *_: pytest.fail("a piece was read"))
    monkeypatch.setattr(copies, "SMALLEST", 0)
    stream = recorded.fresh()
    stream.copies = tmp_path
    for number in range(BATCHES):
        forget_everything()
        stream.batch(batch(number))
    assert stream.total("matches") > 0
    stored = {name.rsplit("/", 1)[0] for store in stream.stores for name in store.chunks}
    assert {path.name.replace("-", "/") for path in tmp_path.rglob("*-*")} <= stored


# ---------------------------------------------------------------- keys come and go


def test_keys_that_come_and_go_for_200_micro_batches_leave_nothing_behind() -> None:
    query = cereus.compile(
        "SELECT * WHERE A ; B PARTITION BY k WITHIN 30 seconds", stream=cereus.Stream(time="ts")
    )
    stream = Stream(recipe_of(query, recorded.SCHEMA), 1, buckets=2)
    sizes = []
    for number in range(200):
        times = pa.array([(40 * number + row) * SECOND for row in range(30)])
        columns = {
            "id": pa.array(range(30), pa.int64()),
            "type": list("ABC" * 10),
            "k": [f"key {number:04} {row % 10}" for row in range(30)],
            "ts": times.cast(recorded.SCHEMA.field("ts").type),
        }
        stream.batch(pa.table(columns))
        sizes.append(sum(store.size for store in stream.stores))
    assert stream.total("matches") > 500 and stream.total("late") == 0
    assert max(sizes[150:]) <= 1.1 * max(sizes[20:70])
    assert sum(sizes[150:200]) <= 1.1 * sum(sizes[20:70])


def test_a_stream_of_the_same_keys_holds_as_much_after_200_micro_batches_as_after_50() -> None:
    query = cereus.compile(
        "SELECT * WHERE A ; B ; C PARTITION BY k WITHIN 9 seconds",
        stream=cereus.Stream(time="ts"),
    )
    stream = Stream(recipe_of(query, recorded.SCHEMA), 2, buckets=2)
    dice, held = random.Random(3), []
    for number in range(200):
        times = [(number + dice.random() - 1) * SECOND + 2 * SECOND for _ in range(300)]
        columns = {
            "id": pa.array(range(300), pa.int64()),
            "type": dice.choices("ABCDEF", k=300),
            "k": [f"key {dice.randrange(50)}" for _ in range(300)],
            "ts": pa.array([int(each) for each in times]).cast(recorded.SCHEMA.field("ts").type),
        }
        stream.batch(pa.table(columns))
        assert [len(store.timers) for store in stream.stores] == [1, 1]
        heads = [len(store.value[0]) for store in stream.stores if store.value is not None]
        chunks = [len(store.chunks) for store in stream.stores]
        size = sum(store.size for store in stream.stores)
        held.append((sum(chunks), sum(heads), size))
    assert stream.total("matches") > 5_000 and stream.total("late") == 0
    for late, early in zip(
        zip(*held[120:], strict=True), zip(*held[20:120], strict=True), strict=True
    ):
        assert max(late) <= 1.1 * max(early)
