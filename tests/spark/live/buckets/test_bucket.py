"""Buckets, without Spark: whatever the batches, delays, failures and restarts, live finds what a
run over the same events in order finds."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus
from cereus.errors import CereusError
from cereus.spark.batch.ordering import in_order
from cereus.spark.live import bucket as buckets_of
from cereus.spark.live.state import journal
from cereus.spark.live.state import stored as states
from tests.spark.live.streams import (
    SECOND,
    Stream,
    matches,
    parts,
    recipe_of,
    results,
    shuffled,
    with_end,
)
from tests.spark.market import QUERIES, STREAM, locally, random_events

SREMO = [
    "any({A:} -> r, {B: side = r.side}) PARTITION BY k WITHIN 20 seconds",
    "next({A:}, {B:}+, {C:}) WITHIN 6 seconds",
    "{A:} . {B:} PARTITION BY k",
    "({A:} -> r . skip* . {B: price > r.price}) WITHIN 8 EVENTS",
    "DETECT {A:} . skip* . {C:}",
]
PAR = ["repeat (A ; try B[out] unless C)", "repeat (A ; A[two])", "repeat (!C ; (A | B)[x])"]
ALGEBRA = [("A ; B", False), ("(A ; B)_5s - C", True), ("A + (B | D)", True)]


@pytest.fixture(scope="module")
def events() -> pa.Table:
    return random_events(1)


def live(
    query: cereus.Query, events: pa.Table, seed: int, *, late: bool = False, **options: Any
) -> Stream:
    dice = random.Random(seed)
    batches = parts(shuffled(events, 5, dice), dice.randint(2, 12), dice)
    batches[-1] = with_end(batches[-1])
    stream = Stream(recipe_of(query, events.schema, late=late), 6, dice=dice, **options)
    stream.run(batches)
    assert stream.total("late") == 0
    assert stream.total("events") == events.num_rows + 1
    return stream


def buckets_for(query: cereus.Query, dice: random.Random) -> int:
    alone = "CONSUME BY ANY" in query.text or not query.keys
    return 1 if alone else dice.randint(1, 5)


@pytest.mark.parametrize("number", range(len(QUERIES)), ids=QUERIES)
def test_patterns_live_are_patterns_in_order(events: pa.Table, number: int) -> None:
    query = cereus.compile(QUERIES[number], stream=STREAM)
    expected = locally(events, query)
    for seed in (number, number + 100):
        buckets = buckets_for(query, random.Random(seed))
        found = matches(live(query, events, seed, buckets=buckets).rows, query)
        assert found == expected and found


@pytest.mark.parametrize("text", SREMO)
def test_sremo_live(events: pa.Table, text: str) -> None:
    query = cereus.compile(text, dialect="sremo", stream=STREAM)
    buckets = buckets_for(query, random.Random(text))
    found = matches(live(query, events, 7, buckets=buckets).rows, query)
    assert found == locally(events, query) and found


@pytest.mark.parametrize("keys", [(), ("k",), ("k", "side")])
@pytest.mark.parametrize("text", PAR)
def test_par_live(events: pa.Table, text: str, keys: tuple[str, ...]) -> None:
    stream = cereus.Stream(time="ts", keys=keys)
    query = cereus.compile(text, dialect="par", stream=stream)
    buckets = buckets_for(query, random.Random(text))
    found = results(live(query, events, 8, buckets=buckets).rows)
    assert found == results(query.run(events).table.to_pylist()) and found


@pytest.mark.parametrize("keys", [(), ("k",)])
@pytest.mark.parametrize(("text", "values"), ALGEBRA)
def test_algebra_live(events: pa.Table, text: str, values: bool, keys: tuple[str, ...]) -> None:
    """Ticks are over when the watermark has passed them, also where no event follows."""
    query = cereus.compile(
        text,
        dialect="algebra",
        stream=cereus.Stream(time="ts", keys=keys),
        values=values,
        merge_ties=True,
    )
    buckets = buckets_for(query, random.Random(text))
    found = results(live(query, events, 9, buckets=buckets).rows)
    assert found == results(query.run(events).table.to_pylist()) and found


def test_counts_live(events: pa.Table) -> None:
    for clauses in ("WITHIN 6 seconds", "PARTITION BY k WITHIN 20 seconds", "PARTITION BY k"):
        query = cereus.compile(f"SELECT COUNT(*) WHERE A ; B+ ; C {clauses}", stream=STREAM)
        found = live(query, events, 10, buckets=buckets_for(query, random.Random(1)))
        expected = query.run(events).table.drop_columns(["end"])
        assert Counter(map(repr, found.rows)) == Counter(map(repr, expected.to_pylist()))


@pytest.mark.parametrize("size", [80, 1100])  # 2**80 and infinitely many
def test_counts_of_matches_fit_the_column_of_spark(size: int) -> None:
    query = cereus.compile("SELECT COUNT(*) WHERE A+", stream=cereus.Stream(time="ts"))
    stream = Stream(recipe_of(query, ticks(1).schema), 2)
    stream.run([ticks(*range(size)), ticks(size + 3)])
    assert len(stream.rows) >= size
    assert 2**32 < stream.total("matches") < 2**63


# ---------------------------------------------------------------- late events


def ticks(*seconds: float, types: str = "") -> pa.Table:
    """Events at these seconds; of the given types, or all A."""
    return pa.table(
        {
            "id": pa.array(range(len(seconds)), pa.int64()),
            "type": list(types or "A" * len(seconds)),
            "ts": pa.array([int(s * SECOND) for s in seconds]).cast(pa.timestamp("us", "UTC")),
        }
    )


PAIRS = cereus.compile("SELECT * WHERE A ; A", stream=cereus.Stream(time="ts"))


def test_an_event_behind_the_watermark_is_counted_and_delivered_on_request() -> None:
    stream = Stream(recipe_of(PAIRS, ticks(1).schema, late=True), 2)
    stream.batch(ticks(10))
    stream.batch(ticks(7))  # the watermark is 8, but no batch has been run with it: on time
    assert stream.total("late") == 0
    stream.batch(ticks(8, 9))  # 8 has been passed, 9 has not
    assert stream.total("late") == 1
    assert [row["late"] for row in stream.rows if row["late"]] == [{"id": 0}]
    assert all(row["events"] is None for row in stream.rows if row["late"])


def test_a_watermark_without_events_makes_late_too() -> None:
    stream = Stream(recipe_of(PAIRS, ticks(1).schema), 2, buckets=1)
    stream.batch(ticks(10))
    stream.batch(ticks(10).slice(0, 0))
    stream.batch(ticks(8))
    assert (stream.total("late"), stream.total("events")) == (1, 2)
    assert stream.rows == []  # not asked for


def test_nothing_is_late_before_there_is_a_watermark() -> None:
    stream = Stream(recipe_of(PAIRS, ticks(1).schema), 2)
    stream.batch(ticks(0, 1))
    stream.batch(ticks(0, 5))
    assert stream.total("late") == 0


def test_times_before_1970_wait_like_others() -> None:
    stream = Stream(recipe_of(PAIRS, ticks(1).schema), 1)
    stream.run([ticks(-3, -5), ticks(4), ticks(20)])
    assert sorted([e["id"] for e in row["events"]] for row in stream.rows) == [
        [0, 0],
        [1, 0],
        [1, 0],
    ]


# ---------------------------------------------------------------- state


def test_state_follows_the_window_not_the_keys_that_ever_were() -> None:
    query = cereus.compile("SELECT * WHERE A ; B PARTITION BY k WITHIN 30 seconds", stream=STREAM)
    schema = random_events(1).schema
    stream = Stream(recipe_of(query, schema), 1, buckets=2)
    sizes = []
    for number in range(12):
        events = random_events(number, 60)
        begin = 600 * number * SECOND
        times = pa.compute.add(events.column("ts").cast(pa.int64()), begin)
        keys = pa.array([f"key {number} {row % 20}" for row in range(60)])
        events = events.set_column(9, "ts", times.cast(schema.field("ts").type))
        stream.batch(events.set_column(3, "k", keys).cast(schema))
        sizes.append(sum(store.size for store in stream.stores))
    assert stream.total("matches") > 20
    assert max(sizes[6:]) < 1.3 * max(sizes[2:6])


def test_a_silent_bucket_forgets_its_keys() -> None:
    query = cereus.compile(
        "SELECT * WHERE A ; B PARTITION BY id WITHIN 5 seconds", stream=cereus.Stream(time="ts")
    )
    recipe = recipe_of(query, ticks(1).schema)
    stream = Stream(recipe, 1)
    stream.batch(ticks(*(n / 100 for n in range(1, 400))))
    stream.batch(ticks(9))
    busy = stream.stores[0].size
    stream.run([ticks(200), ticks(400)])
    assert stream.stores[0].size < busy / 2


def test_many_waiting_batches_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_SEGMENTS", 4)
    stream = Stream(recipe_of(PAIRS, ticks(1).schema), 20)
    dice = random.Random(3)
    times = [n + dice.uniform(0, 15) for n in range(40)]
    for time in times:
        stream.batch(ticks(time))
        assert stream.stores[0].value is not None
        assert len(stream.stores[0].read()[0].split('"segments": ')[1].split("]]")[0]) < 600  # type: ignore[index]
    stream.run([ticks(1000)])
    assert stream.total("matches") == 40 * 39 // 2


@pytest.mark.parametrize("chunk", [500, 5000, 1 << 20])
def test_pieces_of_any_size(events: pa.Table, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(states, "CHUNK", chunk)
    query = cereus.compile(QUERIES[1], stream=STREAM)
    stream = live(query, events, 3)
    assert matches(stream.rows, query) == locally(events, query)
    used = states.BucketState(stream.stores[0])
    assert set(stream.stores[0].chunks) == {
        f"{n}/{i}" for n, c in used.chunks.items() for i in range(c)
    }


# ---------------------------------------------------------------- another query


OTHER = cereus.compile("SELECT * WHERE A ; A ; A", stream=cereus.Stream(time="ts"))


def changed(on_change: str) -> Stream:
    stream = Stream(recipe_of(PAIRS, ticks(1).schema), 1)
    stream.run([ticks(1, 2), ticks(5, 9)])
    stream.outputs.clear()
    stream.recipe = recipe_of(OTHER, ticks(1).schema, on_change=on_change)
    return stream


@pytest.mark.parametrize("on_change", ["refuse", "keep"])
def test_the_state_of_another_query_is_refused(on_change: str) -> None:
    """It is kept only where the queries differ in constants or output."""
    with pytest.raises(CereusError) as raised:
        changed(on_change).batch(ticks(20))
    said = str(raised.value)
    assert PAIRS.text in said and OTHER.text in said
    assert "checkpoint location" in said and 'on_change="restart"' in said
    verb = {"refuse": "keeps", "keep": "cannot keep"}[on_change]
    assert f'on_change="keep" {verb} it' in said


def test_the_same_query_with_other_options_is_told_which_these_may_be() -> None:
    stream = changed("refuse")
    made = recipe_of(PAIRS, ticks(1).schema)
    stream.recipe = replace(made, fingerprint="with more buckets")
    with pytest.raises(CereusError, match="of this query with other columns or options") as raised:
        stream.batch(ticks(20))
    assert 'match(…, checkpoint="…")' in str(raised.value)


def test_the_state_of_another_query_is_dropped_when_told_to() -> None:
    stream = changed("restart")
    stream.run([ticks(20, 21), ticks(22, 3), ticks(100)])
    assert stream.total("late") == 1  # what has been passed stays so
    assert [[e["id"] for e in row["events"]] for row in stream.rows] == [[0, 1, 0]]


ABOVE = "SELECT {} WHERE (A AS a ; B AS b) FILTER a[id > {}] PARTITION BY k WITHIN 60 seconds"


@pytest.mark.parametrize("after", [ABOVE.format("a, b", 7), ABOVE.format("a[id], b", 2)])
@pytest.mark.parametrize("remembers", [True, False])
def test_partial_matches_are_kept_where_constants_or_the_output_change(
    after: str, remembers: bool
) -> None:
    stream = cereus.Stream(time="ts")
    rows = ticks(*range(1, 11), types="AAAAAAAAAA").append_column("k", pa.array(list("pq" * 5)))
    before = cereus.compile(ABOVE.format("a, b", 2), stream=stream)
    then = cereus.compile(after, stream=stream)
    live = Stream(recipe_of(before, rows.schema), 0)
    live.run([rows.slice(0, 5)])
    live.recipe = recipe_of(then, rows.schema, on_change="keep")
    if not remembers:
        buckets_of.WARM.__init__()  # type: ignore[misc]
    ends = ticks(20, 21, types="BB").append_column("k", pa.array(["p", "q"]))
    live.run([rows.slice(5), ends, ticks(99).append_column("k", pa.array(["p"]))])
    begun = sorted(row["events"][0]["id"] for row in live.rows)
    low = 7 if "id > 7" in after else 2
    assert begun == [n for n in range(10) if n > (2 if n < 5 else low)]


def test_a_changed_constant_is_refused_unless_told_to_keep() -> None:
    stream = cereus.Stream(time="ts")
    rows = ticks(1, 2, 3).append_column("k", pa.array(list("ppp")))
    live = Stream(recipe_of(cereus.compile(ABOVE.format("*", 2), stream=stream), rows.schema), 0)
    live.run([rows])
    other = cereus.compile(ABOVE.format("*", 3), stream=stream)
    live.recipe = recipe_of(other, rows.schema)
    with pytest.raises(CereusError, match='on_change="keep" keeps it'):
        live.batch(rows)


# ---------------------------------------------------------------- order


def test_ties_are_put_in_the_order_that_spark_gives_them() -> None:
    table = pa.table(
        {
            "f": [1.0, None, float("nan"), -0.0, 0.0, -1.0],
            "s": [{"x": None}, None, {"x": 2}, {"x": 1}, {"x": 1}, {"x": 3}],
            "l": [[1], [], None, [1, 2], [1, None], [0]],
            "t": ["b", None, "ä", "a", "Z", ""],
            "i": range(6),
        }
    )

    def order(*names: str) -> list[int]:
        found: list[int] = in_order(table, tuple((n,) for n in names)).column("i").to_pylist()
        return found

    assert order("f", "i") == [1, 5, 3, 4, 0, 2]
    assert order("s", "i") == [1, 0, 3, 4, 2, 5]
    assert order("l", "i") == [2, 1, 5, 0, 4, 3]
    assert order("t", "i") == [1, 5, 4, 3, 0, 2]
