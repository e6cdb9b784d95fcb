"""Where an input cannot be cut, one thread reads what several look at."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.parallel.ahead import InTurn, Look
from cereus.engine.parallel.run import ParallelRun
from cereus.engine.parallel.workers import Workers
from cereus.sources import source

STREAM = cereus.Stream(time="t", unit="s")
TABLE = pa.table({"type": ["A", "B", "C"] * 100, "t": range(300), "k": [n % 4 for n in range(300)]})
UNCUT = "SELECT NEXT * WHERE A AS a ; B AS b ; C AS c"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("cereus.sources.source"), "BATCH_ROWS", 20)


def started(text: str, threads: int) -> ParallelRun:
    query = cereus.compile(text, stream=STREAM)
    run = query._start(source(TABLE, STREAM), None, threads)
    run.always, run.least = True, 3
    return run


@pytest.mark.parametrize("threads", [2, 3])
def test_one_thread_reads_all_batches(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    read = BatchReader.read
    by: list[int] = []

    def noted(self: BatchReader, batch: pa.RecordBatch) -> Any:
        by.append(threading.get_ident())
        return read(self, batch)

    monkeypatch.setattr(BatchReader, "read", noted)
    run = started(UNCUT, threads)
    found = [row for batch in run.batches() for row in batch.to_pylist()]
    assert run.how == "ahead" and len(set(by)) == 1
    assert by[0] != threading.get_ident()
    assert found == list(cereus.compile(UNCUT, stream=STREAM).run(TABLE, threads=1))


def test_a_piece_is_looked_at_once_whoever_comes_first() -> None:
    executor = cereus.compile(UNCUT, stream=STREAM, schema=TABLE.schema).executor(TABLE.schema)
    look = Look(executor.readers, TABLE.to_batches()[0])
    assert look.take() and not look.take()
    (seen,) = look.seen.result()
    assert seen.size == 300


def test_who_waits_for_a_piece_looks_at_the_next() -> None:
    executor = cereus.compile(UNCUT, stream=STREAM, schema=TABLE.schema).executor(TABLE.schema)
    first, second, third = (
        Look(executor.readers, TABLE.slice(at, 100).to_batches()[0]) for at in (0, 100, 200)
    )
    turn = InTurn(executor)
    turn.open.extend([first, second, third])
    assert first._begun.acquire(blocking=False)  # another has begun with it
    assert turn._look_further() and second.seen.done()
    assert turn._look_further() and third.seen.done()
    assert not turn._look_further() and not first.seen.done()


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (UNCUT, "ahead"),
        ("SELECT * WHERE A ; B WITHIN 3 seconds", "time"),
        ("SELECT * WHERE A ; B PARTITION BY [k]", "key"),
    ],
)
def test_a_run_that_is_left_early_leaves_no_thread(text: str, how: str) -> None:
    before = set(threading.enumerate())
    run = started(text, 3)
    batches = run.batches()
    assert next(batches).num_rows and run.how == how
    batches.close()  # type: ignore[attr-defined]
    assert set(threading.enumerate()) <= before


def test_the_threads_of_a_run_that_ended_are_those_of_the_next() -> None:
    used: list[set[int]] = []
    for _ in range(2):
        with Workers(3) as workers:
            together = threading.Barrier(3)

            def here(_: int, together: threading.Barrier = together) -> int:
                together.wait()
                return threading.get_ident()

            used.append(set(workers.map(here, range(3))))
    assert len(used[0]) == 3 and used[0] == used[1]


def test_what_is_left_to_do_when_threads_are_left_is_not_begun() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        goes_on.wait()

    with Workers(1) as workers:
        running, waiting = workers.submit(first), workers.submit(begun.clear)
        begun.wait()
        threading.Timer(0.01, goes_on.set).start()
    assert running.done() and waiting.cancelled() and begun.is_set()
