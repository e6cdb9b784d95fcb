"""Slices of time: where they end, what they read twice, and that rows are those of one thread."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from random import Random

import pyarrow as pa
import pytest

import cereus
from cereus.clauses.tree import TimeWindow
from cereus.engine.ingest.clock import Clock
from cereus.engine.parallel.effort import PART, Effort
from cereus.engine.parallel.sharing import NotSplitError
from cereus.engine.parallel.time_slices import (
    MOST_ROWS,
    SlicePart,
    TimeSlices,
    part_ends,
    slice_ends,
)
from cereus.sources import source
from tests.volume import volume

STREAM = cereus.Stream(time="t", unit="s")
SCHEMA = pa.schema({"type": pa.string(), "t": pa.int64(), "k": pa.int64()})


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_slices_are_equal_and_come_in_rounds(threads: int) -> None:
    for rows in (2 * threads, 1_000, 10_000, 12_345_678):
        ends = slice_ends(rows, threads, 1)
        sizes = [end - begin for begin, end in pairwise([0, *ends])]
        assert ends[-1] == rows and len(ends) % threads == 0
        assert min(sizes) >= 1 and max(sizes) <= MOST_ROWS
        assert max(sizes) - min(sizes) <= 1


def test_parts_of_the_last_slices_become_shorter_and_are_never_too_short() -> None:
    for size in (3, 4, 100, 1_000, 123_456):
        ends = part_ends(50, 50 + size, 10)
        sizes = [end - begin for begin, end in pairwise([50, *ends, 50 + size])]
        assert sum(sizes) == size
        assert size < 30 or (min(sizes) >= 10 and sizes[-1] < 30)
        assert all(size > later for size, later in pairwise(sizes[:-1]))


def test_few_rows_are_one_slice_for_each_thread_that_has_enough() -> None:
    assert slice_ends(20, 2, 8) == [10, 20]
    assert slice_ends(20, 4, 8) == [10, 20]
    assert slice_ends(20, 2, 15) == [20]


def batches(times: list[int], size: int) -> list[tuple[int, pa.RecordBatch]]:
    kinds = ["AB"[n % 2] for n in range(len(times))]
    table = pa.table({"type": kinds, "t": times, "k": [n % 3 for n in range(len(times))]}, SCHEMA)
    firsts = range(0, len(times), size)
    return [(at, table.slice(at, size).combine_chunks().to_batches()[0]) for at in firsts]


def parts_of(times: list[int], size: int, seconds: int, **options: int | bool) -> list[SlicePart]:
    clock = Clock(TimeWindow(1_000_000 * seconds), STREAM, SCHEMA)
    slices = TimeSlices(clock, 2, **{"least": 1, "always": False, **options})  # type: ignore[arg-type]
    return [part for first, batch in batches(times, size) for part in slices.cut(batch, first)]


def before(part: SlicePart) -> list[int]:
    assert part.before is not None
    return [row + place for row, batch in part.before for place in range(batch.num_rows)]


def test_a_slice_goes_on_from_batch_to_batch_and_reads_its_window_once() -> None:
    parts = parts_of(list(range(100)), 10, 4, rows=100, least=10)
    assert [part.first for part in parts if part.begins] == [0, 50]
    assert [before(part) for part in parts if part.begins] == [[], [46, 47, 48, 49]]
    assert [part.first + part.rows.num_rows for part in parts if part.closes] == [50, 100]
    assert sum(part.rows.num_rows for part in parts) == 100


def test_of_files_every_batch_is_cut() -> None:
    parts = parts_of(list(range(40)), 20, 2)
    assert [part.first for part in parts] == [0, 10, 20, 30]
    assert all(part.begins and part.closes for part in parts)
    assert [before(part) for part in parts] == [[], [8, 9], [18, 19], [28, 29]]


def test_a_window_that_is_long_for_the_rows_is_not_cut() -> None:
    for rows in (None, 40):
        with pytest.raises(NotSplitError, match="the window is long"):
            parts_of(list(range(40)), 20, 30, **({} if rows is None else {"rows": rows}))


def test_where_times_stand_close_later_on_cuts_are_left_out() -> None:
    times = [10 * n for n in range(40)] + [400 + n // 20 for n in range(40)]
    parts = parts_of(times, 20, 5, rows=80)
    begins = [part.first for part in parts if part.begins]
    assert begins[0] == 0 and all(begin < 50 for begin in begins[1:])
    assert sum(part.rows.num_rows for part in parts) == 80


def test_rows_that_are_not_at_hand_do_not_pile_up_in_a_slice_that_is_not_cut() -> None:
    times = [10 * n for n in range(40)] + [400 + n // 20 for n in range(40)]
    with pytest.raises(NotSplitError, match="the window is long"):
        parts_of(times, 20, 5)


@pytest.mark.parametrize("keys", ["", "PARTITION BY [k]"])
@pytest.mark.parametrize("head", ["SELECT *", "SELECT NEXT *", "SELECT COUNT(*)"])
def test_slices_of_any_length_give_the_rows_of_one_thread(
    head: str, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(volume(6, 60)):
        draw = Random(seed)
        monkeypatch.setattr(
            import_module("cereus.sources.source"), "BATCH_ROWS", draw.randint(5, 90)
        )
        size, time = draw.randint(60, 240), 0
        times = [time := time + draw.choice((0, 0, 1, 1, 2, 9)) for _ in range(size)]
        kinds, key = draw.choices("AABC", k=size), draw.choices(range(4), k=size)
        table = pa.table({"type": kinds, "t": times, "k": key}, SCHEMA)
        text = f"{head} WHERE A ; B {keys} WITHIN {draw.randint(0, 12)} seconds"
        query = cereus.compile(text, stream=STREAM)
        run = query._start(source(table, STREAM), None, draw.randint(2, 5))
        run.least, run.always = draw.randint(1, 6), draw.random() < 0.7
        run.effort = Effort(PART / run.least)
        run.at_hand = draw.random() < 0.7
        found = [row for batch in run.batches() for row in batch.to_pylist()]
        expected = list(query.run(table, threads=1))
        assert sorted(map(str, found)) == sorted(map(str, expected))
        assert [row["end"] for row in found] == [row["end"] for row in expected]
        assert run.how in (("time",) if run.always else ("time", "key", "ahead"))


@pytest.mark.parametrize("keys", ["", "PARTITION BY [k]"])
def test_parts_that_others_take_over_give_the_rows_of_one_thread(
    keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here all of them are taken over, the last one first."""
    module = import_module("cereus.engine.parallel.by_time")
    monkeypatch.setattr(module, "_read_slice", lambda free, slice: None)
    monkeypatch.setattr(import_module("cereus.sources.source"), "BATCH_ROWS", 70)
    for seed in range(volume(4, 40)):
        draw = Random(seed)
        size = draw.randint(100, 240)
        kinds, key = draw.choices("AABC", k=size), draw.choices(range(4), k=size)
        times = sorted(draw.choices(range(200), k=size))
        table = pa.table({"type": kinds, "t": times, "k": key}, SCHEMA)
        query = cereus.compile(f"SELECT * WHERE A ; B {keys} WITHIN 7 seconds", stream=STREAM)
        run = query._start(source(table, STREAM), None, draw.randint(2, 4))
        run.least, run.always = draw.randint(1, 9), True
        found = [row for batch in run.batches() for row in batch.to_pylist()]
        expected = list(query.run(table, threads=1))
        assert run.how == "time" and sorted(map(str, found)) == sorted(map(str, expected))
        assert [row["end"] for row in found] == [row["end"] for row in expected]


def test_times_that_go_backwards_from_one_key_to_another_are_seen_in_every_slice() -> None:
    """The reader sees it where it looks at all rows; where it does not, the slice does."""
    for where in (None, "k >= 0"):
        for back in (5, 50, 95):
            times = list(range(100))
            times[back], times[back - 1] = times[back - 1], times[back]
            keys = [n % 2 for n in range(100)]
            table = pa.table({"type": ["A", "B"] * 50, "t": times, "k": keys}, SCHEMA)
            stream = cereus.Stream(time="t", unit="s", where=where)
            text = "SELECT * WHERE A ; B PARTITION BY [k] WITHIN 3 seconds"
            query = cereus.compile(text, stream=stream)
            run = query._start(source(table, stream), None, 2)
            run.least, run.always = 10, True
            list(run.batches())
            assert run.how == "key"
