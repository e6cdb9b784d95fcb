"""Several threads give the rows of one thread, in the same order, however the input is cut.

Parts are tiny here: three rows of a batch are a slice already, and batches have a few rows.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cereus
from cereus.errors import CereusError
from cereus.languages.ceql.text import to_text
from cereus.languages.match_recognize.match import partitions, sorting
from cereus.languages.sremo.text import to_text as sremo_text
from cereus.sources import source
from tests.languages.algebra.drawing import expression
from tests.languages.algebra.test_query import PRIMITIVES
from tests.languages.ceql import strategies as ceql
from tests.languages.match_recognize import random_clauses as rows
from tests.languages.sase import strategies as sase
from tests.languages.sremo import random_queries as sremo
from tests.volume import volume

CASES = volume(12, 36)
BATCH = 11


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("cereus.sources.source"), "BATCH_ROWS", BATCH)


def in_parts(query: cereus.Query, table: pa.Table, threads: int) -> tuple[str, list[Any]]:
    """How an input is cut in the end, and the rows. Two threads go on from batch to batch, three
    cut every batch on its own, as they do with files."""
    run = query._start(source(table, query.stream), None, threads)
    run.always, run.least, run.at_hand = True, 3 if threads == 3 else 1, threads != 3
    found = [row for batch in run.batches() for row in batch.to_pylist()]
    return run.how, found


def event_of(row: dict[str, Any]) -> Any:
    """The event that a row is given at; matches of one event come in no order of their own."""
    return next((row[name] for name in ("end", "position") if name in row), None)


def assert_same(query: cereus.Query, table: pa.Table, *more: int) -> Iterator[str]:
    """How the input is cut for two and three threads, and for more."""
    one = query.run(table, threads=1)
    expected = list(one)
    for threads in (2, 3, *more):
        how, found = in_parts(query, table, threads)
        assert Counter(map(str, found)) == Counter(map(str, expected)), query.text
        if not query.compiled.emits_late:
            assert [*map(event_of, found)] == [*map(event_of, expected)], query.text
        if how == "piece":
            assert [*map(str, found)] == [*map(str, expected)], query.text
        yield how


def answered(query: cereus.Query, table: pa.Table) -> list[str]:
    """How a query was cut; [] where it cannot be answered at all, which must not change."""
    try:
        return list(assert_same(query, table))
    except CereusError as error:
        with pytest.raises(type(error)) as again:
            in_parts(query, table, 2)
        assert str(again.value) == str(error)
        return []


@pytest.mark.filterwarnings("ignore")
def test_ceql() -> None:
    ways: Counter[str] = Counter()
    for seed in range(CASES):
        draw = Random(seed)
        case = ceql.case(draw)
        length = 3 * ceql.longest(case.query.formula) if case.query.window else 14
        query = cereus.compile(
            to_text(case.query), stream=case.stream, limits=cereus.Limits(matches_per_event=2_000)
        )
        ways.update(answered(query, ceql.table(ceql.events(draw, length, keys=4))))
    assert ways["time"] and ways["key"] and ways["ahead"]


CLAUSES = [
    "A ; B WITHIN 3 seconds",
    "A ; B+ ; C WITHIN 6 seconds",
    "A ; B+ ; A PARTITION BY [k] WITHIN 8 seconds",
    "A ; B PARTITION BY [k, s]",
    "A AS a ; B AS b FILTER a.x = b.x WITHIN 5 seconds",
    "A ; B : C WITHIN 9 seconds",
    "A ; B PARTITION BY [k] WITHIN 4 EVENTS",
    "A ; B PARTITION BY [k] CONSUME BY PARTITION",
    "A ; B PARTITION BY [k] WITHIN 6 seconds CONSUME BY ANY",
    "A ; B WITHIN 2.5 [w]",
    "A ; B+ ; C WITHIN 5 EVENTS",
    "A : B :+ WITHIN 4 EVENTS",
    "(A ; C) WITHOUT B WITHIN 6 EVENTS",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("clauses", CLAUSES)
@pytest.mark.parametrize("head", ["SELECT *", "SELECT NEXT *", "SELECT MAX *", "SELECT COUNT(*)"])
def test_clauses_of_ceql(clauses: str, head: str) -> None:
    stream = cereus.Stream(time="t", unit="s")
    try:
        query = cereus.compile(f"{head} WHERE {clauses}", stream=stream, schema=ceql.SCHEMA)
    except CereusError:
        return  # COUNT(*) is not for every pattern
    for seed in range(3):
        answered(query, ceql.table(ceql.events(Random(seed), 45, keys=4)))


@pytest.mark.filterwarnings("ignore")
def test_sremo() -> None:
    ways: Counter[str] = Counter()
    for seed in range(CASES):
        draw = Random(seed)
        query = cereus.compile(
            sremo_text(sremo.query(draw, simple=draw.random() < 0.5)),
            dialect="sremo",
            stream=cereus.Stream(time="t", unit="s"),
            limits=cereus.Limits(matches_per_event=2_000, configurations=5_000),
        )
        ways.update(answered(query, sremo.table(sremo.events(draw, 12))))
    assert ways["key"] and ways["ahead"]


MARKED = [
    "any({A:}, {B:}) WITHIN 3 seconds",
    "next({A:}, {B:}, {C:}) WITHIN 4 seconds",
    "any({A:} -> x, {B: x > x.x}) WITHIN 5 seconds",
    "any({A:} -> x, {B: s = x.s}+) WITHIN 5 EVENTS",
    "{A:} . skip{}* . {B:} WITHIN 4 EVENTS",
    "{A:} . !(skip* . {B:} -> y . skip* . {C: x = y.x} . skip*) . {B:} WITHIN 5 seconds",
]


@pytest.mark.parametrize("text", MARKED)
def test_strings_that_begin_and_end_with_a_mark_are_cut_into_slices(text: str) -> None:
    query = cereus.compile(text, dialect="sremo", stream=cereus.Stream(time="t", unit="s"))
    for seed in range(3):
        table = ceql.table(ceql.events(Random(seed), 45, keys=4))
        assert answered(query, table) == ["time", "time"]


@pytest.mark.filterwarnings("ignore")
def test_sase() -> None:
    ways: Counter[str] = Counter()
    for seed in range(CASES):
        draw = Random(seed)
        keys = ("k",) if draw.random() < 0.5 else ()
        try:
            query = cereus.compile(
                sase.query(draw),
                dialect="sase",
                stream=cereus.Stream(time="time", keys=keys),
                aggregates=sase.AGGREGATES,
            )
        except CereusError:
            continue  # a name that is a key as well
        ways.update(answered(query, sase.table(sase.events(draw, 24))))
    assert ways["time"] and ways["key"] and ways["ahead"]


ROWS = pa.table(
    {
        "type": [random.Random(n).choice("abc") for n in range(60)],
        "t": list(range(60)),
        "v": [random.Random(n).randrange(4) for n in range(60)],
        "w": [random.Random(-n - 1).choice("xy") for n in range(60)],
        "k": [random.Random(n * 7).choice("pqrs") for n in range(60)],
    }
)


@pytest.mark.parametrize("text", ["repeat (a ; b[X])", "a ; b[X]", "repeat (a[A] | b[B] ; c)"])
@pytest.mark.parametrize("time", ["t", None])
def test_par(text: str, time: str | None) -> None:
    query = cereus.compile(text, dialect="par", stream=cereus.Stream(time=time, keys="k"))
    assert list(assert_same(query, ROWS, 5)) == ["ahead", "ahead", "key"]


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("time", ["t", None])
def test_event_algebra(values: bool, time: str | None) -> None:
    for seed in range(CASES // 4):
        text = str(expression(random.Random(seed), 6, PRIMITIVES))
        stream = cereus.Stream(time=time, keys="k")
        query = cereus.compile(text, dialect="algebra", stream=stream, values=values)
        assert list(assert_same(query, ROWS, 5)) == ["ahead", "ahead", "key"]


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_match_recognize(data: st.DataObject) -> None:
    text = data.draw(rows.clauses(rows.OF_ROW + rows.OF_SLOTS))
    query = cereus.compile(text, dialect="match_recognize")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "LEAST", 2)
        patch.setattr(sorting, "PIECE", data.draw(st.integers(1, 4)))
        ways = answered(query, data.draw(rows.tables(most=20)))
    assert set(ways) <= {"piece" if query.keys else ""}


# ---------------------------------------------------------------- what is common to all


STREAM = cereus.Stream(time="t", unit="s")


def events(times: list[int]) -> pa.Table:
    n = len(times)
    return pa.table({"type": ["A", "B"] * (n // 2), "t": times, "k": [i % 3 for i in range(n)]})


def test_times_out_of_order_over_keys_are_dealt_out_by_key() -> None:
    times = [i // 3 + 100 * (i % 3) for i in range(60)]
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY [k] WITHIN 4 seconds", stream=STREAM)
    assert list(assert_same(query, events(times))) == ["key", "key"]


def test_rows_that_were_sorted_have_their_own_numbers() -> None:
    table = events([59 - i for i in range(60)])
    for within in ("WITHIN 9 seconds", ""):
        query = cereus.compile(f"SELECT * WHERE A ; B PARTITION BY [k] {within}", stream=STREAM)
        expected = list(query.run(table, sort=True, threads=1))
        run = query._start(source(table, STREAM, sort=True), None, 2)
        run.always, run.least = True, 3
        assert [row for batch in run.batches() for row in batch.to_pylist()] == expected
        assert run.how == ("time" if within else "key")


@pytest.mark.parametrize("partition", ["", "PARTITION BY [k]"])
def test_an_error_is_that_of_one_thread(partition: str) -> None:
    times: list[Any] = list(range(60))
    times[40] = None
    query = cereus.compile(f"SELECT * WHERE A ; B {partition} WITHIN 4 seconds", stream=STREAM)
    assert answered(query, events(times)) == []


def test_a_limit_is_that_of_one_thread() -> None:
    limits = cereus.Limits(matches_per_event=20)
    query = cereus.compile("SELECT * WHERE A+ ; B PARTITION BY [k]", stream=STREAM, limits=limits)
    assert answered(query, events(list(range(60)))) == []


def test_a_batch_is_not_cut_where_limit_keeps_the_first_matches_of_an_event() -> None:
    text = "SELECT * WHERE *{2,}[3 seconds]? WITHIN 8 EVENTS LIMIT 3"
    query = cereus.compile(text, stream=cereus.Stream(time="t", unit="s"), schema=ceql.SCHEMA)
    for seed in range(10):
        table = ceql.table(ceql.events(Random(seed), 40, keys=4))
        assert list(assert_same(query, table)) == ["ahead", "ahead"]


def test_few_events_are_left_to_one_thread() -> None:
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 4 seconds", stream=STREAM)
    run = query._start(source(events(list(range(60))), STREAM), None, 8)
    list(run.batches())
    assert run.how == ""


def test_progress_counts_what_was_read_and_found() -> None:
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 4 seconds", stream=STREAM)
    seen: list[tuple[int, int]] = []
    table = events(list(range(60)))
    run = query._start(source(table, STREAM), lambda *n: seen.append(n), 3)
    run.always, run.least = True, 3
    found = sum(batch.num_rows for batch in run.batches())
    assert [read for read, _ in seen] == [11, 22, 33, 44, 55, 60]
    assert seen[-1] == (60, found)


@pytest.mark.parametrize("threads", [0, -1, True, "2"])
def test_a_wrong_number_of_threads_is_refused(threads: Any) -> None:
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 4 seconds", stream=STREAM)
    with pytest.raises(CereusError, match="no number of threads"):
        query.run(events([1, 2]), threads=threads)


def test_the_environment_says_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from cereus.engine.parallel.workers import thread_count

    monkeypatch.setenv("CEREUS_THREADS", "3")
    assert thread_count() == 3
    assert thread_count(5) == 5
    monkeypatch.setenv("CEREUS_THREADS", "many")
    with pytest.raises(CereusError, match="CEREUS_THREADS=many is no number of threads"):
        thread_count()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A ; B WITHIN 4 seconds", "slices of time that overlap by the window"),
        ("A ; B PARTITION BY [k]", "the values of k are dealt out"),
        ("A ; B", "one, and the others test events ahead: there is no WITHIN"),
        ("A ; B PARTITION BY [k] CONSUME BY ANY", "test events ahead: CONSUME BY ANY"),
    ],
)
def test_explain_says_how_it_is_cut(text: str, says: str) -> None:
    assert says in cereus.compile(f"SELECT * WHERE {text}", stream=STREAM).explain()


def test_slices_of_one_event_are_not_cut() -> None:
    """They would not overlap, and time that goes backwards between them would not be seen."""
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 1 EVENTS", stream=STREAM)
    assert "counts events" in query.explain()


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize(
    "pattern", ["A : B", "A ; B", "A ; B WITHIN 3 EVENTS", "A : B WITHIN 9 seconds"]
)
def test_zeros_of_both_signs_are_one_key_and_so_are_all_nans(pattern: str, encoded: bool) -> None:
    before, within, window = pattern.partition(" WITHIN ")
    text = f"SELECT * WHERE {before} PARTITION BY [k]{within}{window}"
    query = cereus.compile(text, stream=STREAM)
    for seed in range(4):
        draw, nan = Random(seed), float("nan")
        keys = pa.array(draw.choices((0.0, -0.0, nan, -nan, 1.0, None), k=60))
        kinds, times = draw.choices("ABC", k=60), [row // 2 for row in range(60)]
        keys = keys.dictionary_encode() if encoded else keys
        ways = list(assert_same(query, pa.table({"type": kinds, "t": times, "k": keys})))
        assert ways == ["time" if window.endswith("seconds") else "key"] * 2


@pytest.mark.parametrize("index", [pa.int8(), pa.int16(), pa.int32()])
def test_keys_that_are_dictionaries_with_nulls_are_dealt_out(index: pa.DataType) -> None:
    """Their places in the dictionary, however wide, become numbers of keys."""
    names = pa.array(["a", None, "b", "c"] * 20).dictionary_encode()
    key = names.cast(pa.dictionary(index, pa.string()))
    events = pa.table({"type": ["A", "A", "B", "A", "B"] * 16, "t": range(80), "k": key})
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY [k]", stream=STREAM)
    how, found = in_parts(query, events, 2)
    assert how == "key" and found == list(query.run(events, threads=1))
