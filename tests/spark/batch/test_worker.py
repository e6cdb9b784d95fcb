"""What a worker does with the sorted rows of a partition; no Spark is needed to see it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.results.event_rows import EventShape
from cereus.spark import worker

STREAM = cereus.Stream(time="ts", unit="s")
TEXTS = (
    "SELECT * WHERE A ; B+ ; C PARTITION BY k, side WITHIN 9 seconds",
    "SELECT LAST * WHERE A ; B+ ; C PARTITION BY k, side WITHIN 9 seconds",
    "SELECT * WHERE A : B PARTITION BY k, side",
    "SELECT * WHERE A ; B PARTITION BY k, side WITHIN 9 seconds CONSUME BY PARTITION",
)


def sorted_rows(keys: int, rows: int, *, often: float = 1 / 3, seed: int = 3) -> pa.Table:
    """Rows sorted by two key columns, then by time, as Spark sorts them: nulls first."""
    random = np.random.default_rng(seed)
    key = np.sort(random.integers(0, keys, rows))
    side = random.integers(0, 2, rows)
    kind = random.choice(3, rows, p=(0.5, 0.5 - often, often))
    order = np.lexsort((np.arange(rows), side, key))
    return pa.table(
        {
            "id": np.arange(rows),
            "type": pa.array(list("ABC")).take(pa.array(kind)),
            "k": pa.array([None if k == 0 else float(k) for k in key[order]]),
            "side": pa.array(["x", "y"]).take(pa.array(side[order])),
            "ts": np.arange(rows),
        }
    )


class Watched(worker.Task):
    """A task that tells its executor apart."""

    made: list[Executor] = []  # noqa: RUF012 (shared on purpose)

    def executor(self, schema: pa.Schema) -> Executor:
        self.made.append(super().executor(schema))
        return self.made[-1]


def run(table: pa.Table, text: str, rows: int) -> Counter[Any]:
    query = cereus.compile(text, stream=STREAM)
    keys = query.keys
    names = (*(".".join(path) for path in keys), "events")
    task = Watched(query.compiled, EventShape(("id",)), keys, names)
    Watched.made.clear()
    found = [row for part in task.run(iter(table.to_batches(rows))) for row in part.to_pylist()]
    return Counter(
        (*(row[name] for name in names[:-1]), *(event["id"] for event in row["events"]))
        for row in found
    )


def locally(table: pa.Table, text: str) -> Counter[Any]:
    query = cereus.compile(text, stream=STREAM)
    names = [".".join(path) for path in query.keys]
    return Counter((*(row[n] for n in names), *row["positions"]) for row in query.run(table))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("clear_at", [1, 100, 1 << 30])
def test_clearing_finished_keys_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, text: str, clear_at: int
) -> None:
    monkeypatch.setattr(worker, "CLEAR_AT", clear_at)
    monkeypatch.setattr(worker, "ROWS_AT_ONCE", 50)
    table = sorted_rows(keys=60, rows=2_000)
    assert run(table, text, rows=37) == locally(table, text)


@pytest.mark.parametrize("text", TEXTS[:2])
def test_state_does_not_grow_with_the_number_of_keys(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(worker, "CLEAR_AT", 1_000)
    monkeypatch.setattr(worker, "ROWS_AT_ONCE", 500)
    run(sorted_rows(keys=5_000, rows=20_000), text, rows=500)
    (executor,) = Watched.made
    assert isinstance(executor, PatternExecutor)
    assert executor.runner.key_count < 1_000
    assert len(executor.runner.history) < 2_000


@pytest.mark.parametrize("text", TEXTS[:2])
def test_a_long_key_is_held_as_far_as_its_window(text: str) -> None:
    run(sorted_rows(keys=1, rows=250_000, often=0.001), text, rows=10_000)
    (executor,) = Watched.made
    assert isinstance(executor, PatternExecutor)
    assert len(executor.runner.history) < 3 * worker.ROWS_AT_ONCE


def test_batches_are_joined_and_nothing_is_lost() -> None:
    table = sorted_rows(keys=3, rows=200_000)
    joined = list(worker.joined(iter(table.to_batches(max_chunksize=7_000))))
    assert len(joined) == 3
    assert pa.Table.from_batches(joined) == table.combine_chunks()


@pytest.mark.parametrize(
    ("values", "change"),
    [
        ([1.0, 1.0, 2.0], 2),
        ([None, None, 0.0], 2),
        ([0.0, -0.0, 0.0], None),
        ([float("nan"), float("nan")], None),
    ],
)
def test_where_the_key_changes(values: list[Any], change: int | None) -> None:
    batch = pa.record_batch({"k": pa.array(values, pa.float64())})
    assert worker.first_change(batch, (("k",),)) == change
