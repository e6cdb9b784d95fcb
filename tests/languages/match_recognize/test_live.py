"""Rows that come in pieces: how the stream is cut makes no difference."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cereus
from cereus.errors import DataError
from cereus.languages.match_recognize.match.runs import slots_kernel
from cereus.languages.match_recognize.run import waiting
from tests.languages.match_recognize.random_clauses import (
    OF_AGGREGATES,
    OF_ROW,
    OF_SEARCH,
    OF_SLOTS,
    clauses,
    tables,
)
from tests.volume import volume

SETTINGS = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
POOLS = [OF_ROW, OF_ROW[:3] + OF_SLOTS, OF_AGGREGATES, OF_SEARCH]


def compiled(text: str) -> cereus.Query:
    return cereus.compile(text, dialect="match_recognize")


def whole(query: cereus.Query, table: pa.Table) -> list[dict[str, Any]] | None:
    try:
        return list(query.run(table))
    except DataError:
        return None


def in_pieces(
    query: cereus.Query, table: pa.Table, cuts: list[int], *, saves: bool
) -> list[dict[str, Any]] | None:
    recognizer = query.recognizer(schema=table.schema)
    found: list[dict[str, Any]] = []
    edges = [0, *sorted(cuts), table.num_rows]
    try:
        for start, end in itertools.pairwise(edges):
            found += list(recognizer.push(table.slice(start, end - start)))
            if saves:
                recognizer = query.restore(recognizer.snapshot())
        return found + list(recognizer.finish())
    except DataError:
        return None


def by_key(rows: list[dict[str, Any]] | None) -> Any:
    """Matches of different keys complete in another order than they are emitted at the end."""
    if not rows or "k" not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: repr(row["k"]))


@pytest.mark.parametrize("pool", POOLS)
@settings(SETTINGS, max_examples=volume(11, 45))
@given(data=st.data())
def test_pieces_give_the_matches_of_the_whole(pool: tuple[str, ...], data: st.DataObject) -> None:
    query = compiled(data.draw(clauses(pool)))
    table = data.draw(tables()).sort_by("ts")
    cuts = data.draw(st.lists(st.integers(0, table.num_rows), max_size=4))
    saves = data.draw(st.booleans())
    wanted = whole(query, table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "LONG", data.draw(st.sampled_from([1, 3, 512])))
        found = in_pieces(query, table, cuts, saves=saves)
    if wanted is None:
        assert found is None
    else:
        assert by_key(found) == by_key(wanted), query.text


def events(*letters: str) -> pa.Table:
    return pa.table(
        {
            "i": pa.array(range(len(letters)), pa.int64()),
            "ts": pa.array([n * 1_000_000 for n in range(len(letters))], pa.timestamp("us")),
            "c": list(letters),
        }
    )


CLAUSE = "MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(i) AS f, LAST(i) AS l PATTERN ({}) {} {})"
DEFINE = "DEFINE a AS c = 'a', b AS c = 'b'"


def emitted(pattern: str, letters: str, within: str = "") -> list[list[tuple[int, int]]]:
    """For each row what is emitted when it comes, and last what is emitted at the end."""
    recognizer = compiled(CLAUSE.format(pattern, within, DEFINE)).recognizer()
    table = events(*letters)
    batches = [recognizer.push(table.slice(n, 1)) for n in range(len(letters))]
    return [[(row["f"], row["l"]) for row in each] for each in (*batches, recognizer.finish())]


def test_a_match_is_emitted_as_soon_as_it_is_decided() -> None:
    assert emitted("a b", "ab") == [[], [(0, 1)], []]


def test_a_greedy_tail_waits_for_a_row_that_it_cannot_take() -> None:
    assert emitted("a b+", "abbc") == [[], [], [], [(0, 2)], []]


def test_a_reluctant_tail_does_not_wait() -> None:
    assert emitted("a b+?", "abb") == [[], [(0, 1)], [], []]


def test_the_end_of_the_stream_decides() -> None:
    assert emitted("a b+", "abb") == [[], [], [], [(0, 2)]]
    assert emitted("a b* $", "aa") == [[], [], [(1, 1)]]


def test_a_window_that_has_passed_decides() -> None:
    clause = CLAUSE.format("a b+", "WITHIN INTERVAL '3' SECOND", DEFINE)
    recognizer = compiled(clause).recognizer()
    assert not len(recognizer.push(events("a", "b")))
    assert not len(recognizer.advance(2_999_999))
    assert [(row["f"], row["l"]) for row in recognizer.advance(3_000_000)] == [(0, 1)]


def test_a_long_run_that_leads_nowhere_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the starts before a row that ends them all, none is tried again."""
    searches: list[Any] = []

    class Counted(slots_kernel.Search):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            searches.append(self)

    monkeypatch.setattr(slots_kernel, "Search", Counted)
    recognizer = compiled(CLAUSE.format("a+ b", "", DEFINE)).recognizer()
    recognizer.push(events(*("a" * 3000)))
    table = events(*("a" * 3000 + "c"))
    assert not len(recognizer.push(table.slice(3000)))
    assert sum(search.work_done() for search in searches) < 10_000


def test_rows_out_of_order_are_refused() -> None:
    recognizer = compiled(CLAUSE.format("a b", "", DEFINE)).recognizer()
    table = events("a", "b", "a")
    recognizer.push(table.slice(1, 1))
    with pytest.raises(DataError, match="ORDER BY ts"):
        recognizer.push(table.slice(0, 1))


KEYED = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {} AS m
    PATTERN (a b) WITHIN INTERVAL '3' SECOND DEFINE a AS c = 'a', b AS c = 'b')"""


def kept_keys(measure: str, letters: str, time: int) -> int:
    """How many keys are kept when as many rows of as many keys have come, and time has passed."""
    recognizer = compiled(KEYED.format(measure)).recognizer()
    table = events(*letters)
    recognizer.push(table.append_column("k", pa.array(range(len(letters)))))
    list(recognizer.advance(time))
    assert recognizer._executor is not None
    return len(recognizer._executor.keys.numbers)  # type: ignore[attr-defined]


def test_a_skip_that_goes_nowhere_ends_the_recognizer() -> None:
    """The search would go on behind the rows that it has read."""
    text = """MATCH_RECOGNIZE (ORDER BY i MEASURES FIRST(i) AS f AFTER MATCH SKIP TO b
        PATTERN (a b? c) DEFINE a AS x = 1, b AS x = 2, c AS x = 3)"""
    recognizer = compiled(text).recognizer()
    table = pa.table({"i": range(4), "x": [1, 3, 1, 3]})
    with pytest.raises(DataError, match="no row of a match is mapped to B"):
        recognizer.push(table)
    with pytest.raises(cereus.CereusError, match="this recognizer is finished"):
        recognizer.push(table)


def test_keys_are_forgotten_when_time_has_passed_their_rows() -> None:
    assert kept_keys("LAST(i)", "cacca", 5_000_000) == 1  # the last a still waits
    assert kept_keys("LAST(i)", "cacca", 8_000_000) == 0
    assert kept_keys("LAST(i)", "cacca", 1_000_000) == 4  # the first row is behind


def test_keys_whose_past_is_asked_for_are_kept() -> None:
    assert kept_keys("PREV(FIRST(i))", "cacca", 9_000_000) == 5
    assert kept_keys("MATCH_NUMBER()", "cacca", 9_000_000) == 5
    assert "every key that ever came" in compiled(KEYED.format("MATCH_NUMBER()")).explain()
    assert "every key that ever came" not in compiled(KEYED.format("LAST(i)")).explain()


def test_what_grows_live_is_a_warning_live_and_none_over_a_table() -> None:
    query = compiled(CLAUSE.format("a b+", "", DEFINE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query.run(events("a", "b"))
    with pytest.warns(cereus.CereusWarning, match="WITHIN bounds that"):
        query.recognizer()


def test_a_key_that_was_forgotten_begins_anew() -> None:
    recognizer = compiled(KEYED.format("LAST(i)")).recognizer()
    table = events(*"ccab").append_column("k", pa.array([1, 1, 1, 1]))
    recognizer.push(table.slice(0, 2))
    list(recognizer.advance(2_000_000))
    assert [row["m"] for row in recognizer.push(table.slice(2))] == [3]


def test_rows_of_decided_starts_are_dropped() -> None:
    recognizer = compiled(CLAUSE.format("a b", "", DEFINE)).recognizer()
    recognizer.push(events(*("abc" * 100)))
    assert recognizer._executor is not None
    assert recognizer._executor.keys.rows.num_rows == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("a+ b", "DEFINE a AS c = 'a', b AS c = 'b'"),
        ("a+ b", "DEFINE a AS c = 'a' AND i >= FIRST(a.i), b AS i > LAST(a.i, 2) AND c = 'b'"),
        ("a+ b", "DEFINE a AS c = 'a' AND sum(a.i) >= 0, b AS c = 'b' AND NEXT(i) IS NULL"),
    ],
    ids=["rows", "slots", "aggregates"],
)
def test_an_endless_match_that_grows_row_by_row_reads_each_row_a_few_times(
    monkeypatch: pytest.MonkeyPatch, pattern: str, define: str
) -> None:
    """Its rows are not read again with every push; where they are, there are twice as many."""
    searches: list[Any] = []

    class Counted(slots_kernel.Search):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            searches.append(self)

    monkeypatch.setattr(slots_kernel, "Search", Counted)
    monkeypatch.setattr(waiting, "LONG", 16)
    recognizer = compiled(CLAUSE.format(pattern, "", define)).recognizer()
    table, rows = events(*("a" * 150 + "b")), 150
    for n in range(rows):
        assert not len(recognizer.push(table.slice(n, 1)))
    assert sum(search.work_done() for search in searches) < 16 * 16 + 12 * rows
    found = [*recognizer.push(table.slice(rows)), *recognizer.finish()]
    assert [(row["f"], row["l"]) for row in found] == [(0, rows)]


def test_rows_out_of_order_are_refused_also_where_a_search_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "LONG", 1)
    recognizer = compiled(CLAUSE.format("a+ b", "", DEFINE)).recognizer()
    table = events("a", "a", "a", "a")
    recognizer.push(table.slice(0, 1))
    recognizer.push(table.slice(2, 1))
    with pytest.raises(DataError, match="ORDER BY ts"):
        recognizer.push(table.slice(1, 1))


def test_counted_rounds_have_their_labels_in_pieces_too() -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES CLASSIFIER() AS v, LAST(c.ts) AS l,
        count(b.*) AS n PATTERN (a b{13,20} c) DEFINE a AS x = 0, b AS x > a.x AND x < 9,
        c AS x = 9)"""
    table = pa.table({"ts": range(16), "x": [0, *14 * [1], 9]})
    query = compiled(text)
    expected = [{"v": "C", "l": 15, "n": 14}]
    assert whole(query, table) == in_pieces(query, table, [8], saves=True) == expected
