"""Random clauses over random tables: every path gives what the reference gives."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cereus.errors import DataError
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import (
    finding,
    letters,
    matching,
    program,
    sorting,
)
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.rows import two_passes
from cereus.languages.match_recognize.match.runs import find, slots_kernel
from cereus.languages.match_recognize.output import batch
from cereus.languages.match_recognize.text import parse
from cereus.limits import Limits
from cereus.reference import match_recognize as reference
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
POOLS = {
    "rows": OF_ROW,
    "slots": OF_ROW[:4] + OF_SLOTS,
    "aggregates": OF_ROW[:3] + OF_SLOTS[:4] + OF_AGGREGATES,
    "search": OF_ROW[:3] + OF_SEARCH,
}


def expected(text: str, table: pa.Table) -> list[dict[str, Any]] | None:
    """What the reference emits; None where SKIP TO goes nowhere."""
    try:
        return reference.run(parse(text), table.to_pylist(), table.column_names)
    except DataError:
        return None


def emitted(text: str, table: pa.Table, path: finding.Path | None = None) -> Any:
    clause = parse(text)
    over = bound(clause, table.schema)
    states = automaton(clause.pattern)
    try:
        chosen = path or finding.path_of(over, states)
        return batch.run(finding.Finder(over, states, chosen, Limits()), table).to_pylist()
    except DataError:
        return None


def comparable(rows: list[dict[str, Any]] | None) -> Any:
    """Rows as texts. The reference has times with a zone, and sums in another order of adding."""
    if rows is None:
        return None
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if hasattr(value, "tzinfo"):
        return value.replace(tzinfo=None)
    return round(value, 9) if isinstance(value, float) else value


def by_partition(rows: Any) -> Any:
    """The order of partitions is not fixed; that inside them is."""
    if rows is None or not rows or "k" not in rows[0]:
        return rows
    return sorted(rows, key=lambda row: repr(row["k"]))


@pytest.mark.parametrize("pool", POOLS)
@settings(SETTINGS, max_examples=volume(9, 54))
@given(data=st.data())
def test_the_engine_emits_what_the_reference_emits(pool: str, data: st.DataObject) -> None:
    text = data.draw(clauses(POOLS[pool]))
    table = data.draw(tables())
    wanted = comparable(expected(text, table))
    assert by_partition(comparable(emitted(text, table))) == by_partition(wanted), text


@pytest.mark.parametrize("pool", ["slots", "aggregates", "search"])
@settings(SETTINGS, max_examples=volume(5, 54))
@given(data=st.data())
def test_rounds_that_are_counted_are_as_copies(pool: str, data: st.DataObject) -> None:
    text = data.draw(clauses(POOLS[pool]))
    table = data.draw(tables())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "MOST_COPIES", 0)
        counted = comparable(emitted(text, table))
    assert counted == comparable(emitted(text, table)), text


@settings(SETTINGS, max_examples=volume(5, 27))
@given(data=st.data())
def test_pieces_of_partitions_are_as_one(data: st.DataObject) -> None:
    """However few rows are a piece, and however few of its rows are read together."""
    text = data.draw(clauses(OF_ROW + OF_SLOTS))
    table = data.draw(tables())
    clause = parse(text)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    finder = finding.Finder(over, states, finding.path_of(over, states), Limits())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letters, "BLOCK", 2)
        patch.setattr(letters, "LARGE", 1)
        patch.setattr(matching, "MOST_MATCHES", data.draw(st.integers(1, 3)))
        try:
            rows = sorting.SortedRows(table, over.partition, over.order)
            pieces = rows.pieces(data.draw(st.integers(1, 4)))
            batches = (each for piece in pieces for each in batch.results(finder, piece))
            found = [row for each in batches for row in each.to_pylist()]
        except DataError:
            found = None
    assert found == emitted(text, table), text


@settings(SETTINGS, max_examples=volume(5, 27))
@given(text=clauses(OF_ROW, within=False), table=tables())
def test_a_clause_of_rows_gives_the_same_on_every_path(text: str, table: pa.Table) -> None:
    by_rows = emitted(text, table, finding.Path.ROWS)
    for path in (finding.Path.SLOTS, finding.Path.SEARCH):
        assert emitted(text, table, path) == by_rows, text


WINDOWS = (
    "ts <= FIRST(ts) + INTERVAL '2' SECOND",
    "x > 0 AND ts - FIRST({v}.ts) < INTERVAL '2' SECOND",
    "FIRST({o}.ts) + INTERVAL '1' SECOND >= ts",
    "ts BETWEEN FIRST(u.ts) AND FIRST(u.ts) + INTERVAL '2' SECOND",
    "{o}.x IS NULL OR x <> {o}.x",
)


@settings(SETTINGS, max_examples=volume(8, 55))
@given(text=clauses(OF_ROW[:3] + WINDOWS), table=tables())
def test_starts_that_come_too_late_are_left_out_and_nothing_else(
    text: str, table: pa.Table
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "WORK_PER_ROW", 0)
        patch.setattr(find, "FREE_WORK", 0)
        found = emitted(text, table)
    wanted = comparable(expected(text, table))
    assert by_partition(comparable(found)) == by_partition(wanted), text


@pytest.mark.parametrize(
    "condition", ["max(CLASSIFIER()) = 'Z'", "count(CLASSIFIER(a)) = 99", "sum(MATCH_NUMBER()) < 0"]
)
def test_a_search_does_not_try_the_same_twice(condition: str) -> None:
    """There are 2**40 ways to map forty rows to a and b, and few that conditions can tell apart."""
    text = f"""MATCH_RECOGNIZE (ORDER BY i MEASURES 1 AS m PATTERN (^ (a | b)* c)
        DEFINE c AS {condition})"""
    table = pa.table({"i": range(40)})
    assert emitted(text, table, finding.Path.SEARCH) == []


def test_a_long_stretch_without_an_end_is_read_once() -> None:
    """Each start would read a window of 2,000 rows; of these starts none is tried."""
    text = """MATCH_RECOGNIZE (ORDER BY i MEASURES count(*) AS n PATTERN (bad{5,} good)
        DEFINE bad AS x = 0 AND i <= FIRST(bad.i) + 2000, good AS x = 1)"""
    rows = 20_000
    table = pa.table({"i": range(rows), "x": [int(n == rows - 1) for n in range(rows)]})
    assert [row["n"] for row in emitted(text, table)] == [2002]
    clause = parse(text)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    searches: list[Any] = []

    class Counted(slots_kernel.Search):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            searches.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots_kernel, "Search", Counted)
        path = finding.path_of(over, states)
        batch.run(finding.Finder(over, states, path, Limits()), table)
    (search,) = searches
    assert search.work_done() < 6 * rows


ROWS_WITHOUT_B = 40_000


@pytest.mark.parametrize("partitions", [1, 7])
def test_a_pattern_that_nothing_completes_reads_each_row_twice(partitions: int) -> None:
    """`A+ B` without any B: once backwards, once forwards, however many rows there are."""
    text = """MATCH_RECOGNIZE (PARTITION BY k ORDER BY i MEASURES count(*) AS n PATTERN (a+ b)
        DEFINE a AS x > 0, b AS x < 0)"""
    clause = parse(text)
    read = []
    for rows in (ROWS_WITHOUT_B // 10, ROWS_WITHOUT_B):
        table = pa.table({"i": range(rows), "k": [n % partitions for n in range(rows)]})
        table = table.append_column("x", pa.array([1] * rows))
        over, states = bound(clause, table.schema), automaton(clause.pattern)
        finder = finding.Finder(over, states, finding.path_of(over, states), Limits())
        pieces = sorting.SortedRows(table, over.partition, over.order).pieces()
        assert not [each for piece in pieces for each in batch.results(finder, piece)]
        read.append(finder.costs.steps)
    assert read == [2 * ROWS_WITHOUT_B // 10, 2 * ROWS_WITHOUT_B]


@settings(SETTINGS, max_examples=volume(5, 27))
@given(text=clauses(OF_ROW, within=False), table=tables())
def test_without_numbered_sets_the_matches_are_the_same(text: str, table: pa.Table) -> None:
    by_sets = emitted(text, table)
    clause = parse(text)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    assume(len(states))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cereus.languages.match_recognize.match.rows.look_ahead.MOST_SETS", 0)
        try:
            finder = finding.Finder(over, states, finding.Path.ROWS, Limits())
            by_states = batch.run(finder, table).to_pylist()
        except DataError:
            by_states = None
    assert by_states == by_sets
    assert two_passes.MOST_NUMBERS


@settings(SETTINGS, max_examples=volume(25, 400))
@given(text=clauses(OF_ROW, within=False), table=tables(most=12), data=st.data())
def test_rows_that_are_taken_are_those_of_the_matches(
    text: str, table: pa.Table, data: st.DataObject
) -> None:
    """Without writing down a match: rows that several matches read in one state are read once."""
    clause = replace(parse(text), skip=tree.Skip(tree.SkipTo.NEXT_ROW))
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    finder = finding.Finder(over, states, finding.Path.ROWS, Limits())
    variable = data.draw(st.sampled_from([None, *clause.variables()]))
    for piece in sorting.SortedRows(table, over.partition, over.order).pieces():
        matches = finder.matches(piece)
        known = finder.taken(piece, variable)
        assert known is not None
        labels = [finder.automaton.labels[state] for state in matches.states]
        places = [p for m in range(len(matches)) for p in range(matches.starts[m], matches.ends[m])]
        if variable is None:
            rows = {int(end) - 1 for end in matches.ends[matches.ends > matches.starts]}
        else:
            rows = {p for p, label in zip(places, labels, strict=True) if label == variable}
        assert known[0] == np.count_nonzero(matches.ends > matches.starts)
        assert set(known[1].tolist()) == rows, text


def test_rows_that_are_taken_are_read_once_in_each_state() -> None:
    """However long the matches are: here each goes to the end."""
    rows = 1_000
    table = pa.table({"i": range(rows), "x": [0] * rows})
    clause = parse(
        """MATCH_RECOGNIZE (ORDER BY i MEASURES 1 AS n AFTER MATCH SKIP TO NEXT ROW
        PATTERN (s a+) DEFINE a AS x = 0)"""
    )
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    finder = finding.Finder(over, states, finding.Path.ROWS, Limits())
    (piece,) = sorting.SortedRows(table, over.partition, over.order).pieces()
    known = finder.taken(piece, "A")
    assert known is not None and known[0] == rows - 1
    assert known[1].tolist() == list(range(1, rows))
    assert finder.costs.steps < 6 * rows


class Pressed(Exception):
    """Stands for Ctrl-C."""


def test_a_long_search_ends_when_it_is_interrupted() -> None:
    """Each start reads all rows behind it: 800 million steps, of which few are made."""
    text = """MATCH_RECOGNIZE (ORDER BY i MEASURES count(*) AS n PATTERN (a+ b)
        DEFINE a AS x >= FIRST(a.x), b AS MOD(2 * x + 2 * FIRST(a.x), 4) = 1)"""
    rows = 40_000
    table = pa.table({"i": range(rows), "x": range(rows)})
    clause = parse(text)
    over, states = bound(clause, table.schema), automaton(clause.pattern)
    finder = finding.Finder(over, states, finding.path_of(over, states), Limits())
    searches: list[Any] = []

    class Counted(slots_kernel.Search):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            searches.append(self)

    def press(*_: object) -> None:
        raise Pressed

    before = signal.signal(signal.SIGALRM, press)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(slots_kernel, "Search", Counted)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Pressed):
                batch.run(finder, table)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert all(search.work_done() < rows * rows // 4 for search in searches)
