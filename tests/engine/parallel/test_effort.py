"""Threads are used where there is enough work for them, which what was counted tells."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.engine.costs import Costs
from cereus.engine.parallel.effort import EVENT, NODE, PART, SAMPLE, STEP, Effort
from cereus.engine.parallel.run import ParallelRun
from cereus.errors import CereusError
from cereus.sources import source

STREAM = cereus.Stream(time="t", unit="s")
LIGHT = "SELECT * WHERE B ; C WITHIN 1 second"
HEAVY = "SELECT * WHERE A ; A WITHIN 10 seconds"
FEW, ROWS, MANY = 200, 600, 1_000


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of events that are read and dropped, 2,000 are worth a thread."""
    effort, run = (import_module(f"cereus.engine.parallel.{name}") for name in ("effort", "run"))
    for module in (effort, run):
        monkeypatch.setattr(module, "SAMPLE", 50)
    monkeypatch.setattr(effort, "PART", 2_000 * EVENT)
    monkeypatch.setattr(run, "FEW_ROWS", FEW)
    monkeypatch.setattr(run, "MANY_ROWS", MANY)


def table(rows: int) -> pa.Table:
    return pa.table({"type": ["A"] * rows, "t": pa.array(range(rows), pa.int64())})


def compiled(text: str) -> cereus.Query:
    return cereus.compile(text, stream=STREAM)


def started(query: cereus.Query, events: Any) -> ParallelRun:
    return query._start(source(events, STREAM), None, 2)


def samples(run: ParallelRun) -> list[int]:
    """The run comes to its end; the lengths of the samples that it reads."""
    read: list[int] = []
    first = type(run.work).first

    class Work(type(run.work)):  # type: ignore[misc]
        def first(self, rows: int) -> Any:
            read.append(rows)
            return first(self, rows)

    run.work = Work(*(getattr(run.work, name) for name in ("compiled", "events", "columns")))
    for _ in run.batches():
        pass
    return read


def test_a_query_that_has_not_run_reads_a_sample_once() -> None:
    query = compiled(LIGHT)
    run = started(query, table(ROWS))
    assert samples(run) == [50] and run.how == ""
    assert samples(started(query, table(ROWS))) == []


def test_much_work_is_for_threads_and_gives_the_rows_of_one() -> None:
    run = started(compiled(HEAVY), table(ROWS))
    found = [row for batch in run.batches() for row in batch.to_pylist()]
    expected = list(compiled(HEAVY).run(table(ROWS), threads=1))
    assert run.how == "time" and len(run.at_work) == 2
    assert [row["end"] for row in found] == [row["end"] for row in expected]
    assert sorted(map(str, found)) == sorted(map(str, expected))


def test_partial_matches_that_read_events_are_work() -> None:
    effort = Effort()
    effort.note(Costs(kept=100, steps=100), 100, 0)
    alone = effort.per_event
    effort.note(Costs(kept=100, steps=5_100), 100, 0)
    assert alone is not None and effort.per_event == alone + 50 * STEP


def test_what_a_run_has_counted_decides_the_next_one() -> None:
    """The first events of this table are no work."""
    events = table(ROWS).set_column(0, "type", pa.array(["B"] * 60 + ["A"] * (ROWS - 60)))
    query = compiled(HEAVY)
    hows = []
    for _ in range(2):
        run = started(query, events)
        for _ in run.batches():
            pass
        hows.append(run.how)
    assert hows == ["", "time"]


@pytest.mark.parametrize(("rows", "how"), [(FEW - 1, ""), (MANY, "time")])
def test_few_and_many_rows_need_no_sample(rows: int, how: str) -> None:
    run = started(compiled(LIGHT), table(rows))
    assert samples(run) == [] and run.how == how


def test_few_rows_are_for_threads_if_they_are_known_to_be_much_work() -> None:
    query = compiled(HEAVY)
    query.run(table(ROWS), threads=1)
    run = started(query, table(FEW - 1))
    assert samples(run) == [] and run.how == "time"


def test_one_thread_and_two_count_the_same_work() -> None:
    query, efforts = compiled(f"{HEAVY} PARTITION BY [type]".replace("WITHIN 10 seconds", "")), []
    for threads in (1, 2):
        run = query._start(source(table(100), STREAM), None, threads)
        run.always = True
        for _ in run.batches():
            pass
        efforts.append(run.effort.per_event)
    assert efforts[0] is not None and efforts[0] == efforts[1]


def test_an_error_in_the_sample_is_that_of_one_thread() -> None:
    events = table(ROWS).set_column(1, "t", pa.array(range(ROWS, 0, -1), pa.int64()))
    with pytest.raises(CereusError) as one:
        compiled(HEAVY).run(events, threads=1)
    with pytest.raises(CereusError) as two:
        compiled(HEAVY).run(events, threads=2)
    assert str(one.value) == str(two.value)


def test_work_is_known_by_what_was_counted() -> None:
    effort = Effort()
    effort.note(Costs(nodes=5 * SAMPLE), SAMPLE, 0)
    assert effort.per_event == EVENT + 5 * NODE
    effort.note(Costs(), 49, 1_000)
    assert effort.per_event == EVENT + 5 * NODE  # too few events to go by
    assert Effort().rows_of_part is None
    assert Effort(2.0 * PART).rows_of_part == 1
