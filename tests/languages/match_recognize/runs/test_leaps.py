"""Runs that wait for long leap over blocks of rows: with the same matches, and less work."""

from __future__ import annotations

import re
from datetime import datetime
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.errors import LimitError
from cereus.languages.match_recognize.explaining.costs import is_searched
from cereus.languages.match_recognize.match import codes, finding, program, searched
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.runs import find, slots_kernel
from cereus.languages.match_recognize.match.runs.dead import Alike
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.text import parse
from cereus.reference import match_recognize as reference
from tests.volume import volume

PATTERNS = ("a b*", "b+", "c | b{2,}", "a b*? c", "a b* c", "a b+ c", "a b+? c", "a b* (c | d)",
            "a (b* c){2}", "a b* c d*", "(a b*? c)+ d", "a b{2,} c", "a b*? c b*? d",
            "a b* c b* d", "a b+ c+ b+ d", "a b{2,40} c", "a b{15,} c", "a b{,30}? c d*? b",
            "a b{20} c{1,15}", "(b{3,14})+ d", "a b{13,}? (c | d)", "b{13,60}",
            "a b*? c d*? b", "a b*? c b*? c b*? d")  # fmt: skip
OF_ROUNDS = ("a b{13,}?", "b{15,40}?", "a b{14,30}? d*", "(a b{13,}?)+", "a (b{13,14})+ c")
OF_LOOPS = ("", "b AS x < a.x", "b AS x <= FIRST(a.x)", "b AS y IS NULL OR y < a.x",
            "b AS x + 1 < a.x * 2 OR x = 3", "b AS NOT (x - a.x > 5)", "b AS x < 90 AND x > y",
            "b AS count(b.x) < 40", "b AS x <= LAST(b.x, 1) OR x < 50",
            "b AS z / 2.0 < a.z OR z > 1e300 * a.z", "b AS sum(b.x) < 40 * a.x",
            "b AS avg(b.x) <= a.x + 2", "b AS avg(b.y) < 40 OR avg(w) <> 3",
            "b AS max(b.y) < 97 OR x < 9", "b AS avg(b.z) < a.z",
            "b AS count(b.y) < 90 AND sum(z) < 80", "b AS min(x) > 0 OR count(*) < 50",
            "b AS FIRST(b.x, 2) IS NULL OR x >= FIRST(b.x, 1) - 60",
            "b AS PREV(CLASSIFIER(), 1) <> 'C' OR x > 3", "b AS sum(b.y) IS NULL OR x < 90",
            "b AS bool_and(b.x < 95)", "b AS MATCH_NUMBER() < 3 OR x < 80",
            "b AS sum(b.w) > -20 * a.x", "b AS abs(x - a.x) < 60", "b AS abs(z - a.z) < 1.9",
            "b AS CASE WHEN x < 50 THEN y < 97 ELSE x < a.x + 40 END",
            "b AS x <= greatest(a.x, 60) OR z < least(a.z, 0.7)",
            "b AS coalesce(LAST(b.x, 1), a.x) < 98", "b AS stddev_pop(b.x) < 30",
            "b AS max_by(b.x, b.y) < 80 OR x < 20", "b AS min_by(y, w) IS NULL OR x > 2",
            "b AS LAST(b.x, 12) IS NULL OR x < LAST(b.x, 9) + 70",
            "b AS percentile(b.x, 0.25) < 60 OR x < 9", "b AS x >= median(b.y) - 50",
            "b AS FIRST(b.x, 11) IS NULL OR x < FIRST(b.x, 9) + 60",
            "b AS count_if(CLASSIFIER() = 'B') < 60", "b AS arbitrary(b.y) > 3 OR x < 50",
            "b AS sqrt(a.x + x) < 11.5")  # fmt: skip
OF_ENDS = ("c AS x > a.x", "c AS x > a.x + 20", "c AS y > a.x AND x > 3", "c AS x * 3 > a.x * 4",
           "c AS z > a.z * 1.25", "c AS x > LAST(b.x) AND x > a.x", "c AS y IS NULL AND x > a.x",
           "c AS x - a.x BETWEEN 4 AND 9", "c AS x > 97", "c AS x > max(b.x) + 3",
           "c AS sum(b.x) > 3000 AND x > 9", "c AS avg(b.z) > 1.5 * z", "c AS x > avg(b.x) * 2.5",
           "c AS min(b.y) + 60 < y", "c AS count(b.*) > 45 AND x > a.x", "c AS z > max(z) - 0.01",
           "c AS x > LAST(b.x, 2) + 70", "c AS sum(c.x) + sum(b.x) > 900", "c AS sum(w) > 300",
           "c AS LAST(x, 3) > x + 60", "c AS LAST(CLASSIFIER(), 2) = 'A' OR x > 96",
           "c AS sum(b.z) BETWEEN 20 AND 22", "c AS max(b.x) - min(b.x) > 90",
           "c AS x > avg(b.x) + 2 * stddev(b.x)", "c AS var_samp(b.y) < 700 AND x > a.x",
           "c AS avg(b.x) > 50", "c AS avg(w) >= 4", "c AS x > LAST(b.x, 30) + 60",
           "c AS x > max_by(b.x, b.z) + 50",
           "c AS LAST(b.x, 10) = x AND min_by(b.y, b.x) < 3",
           "c AS x > 1.5 * sum(b.x * b.y) / sum(b.y)", "c AS sum(b.w) > 2 * count(b.*) + x",
           "c AS x * count(b.*) >= 2.2 * sum(b.x)", "c AS bool_and(b.x < 60) AND x > 40",
           "c AS count_if(b.x > 50) > 0.7 * count(*)", "c AS sum(x) / count(*) BETWEEN 20 AND 30",
           "c AS x > percentile(b.x, 0.9) + 20", "c AS median(b.y) > 1.5 * x",
           "c AS x > FIRST(b.x, 12) + 30", "c AS sum(CASE CLASSIFIER() WHEN 'B' THEN x END) > 900",
           "c AS percentile(z, 0.3) > z AND x > 90", "c AS x > 1.2 * LAST(b.x, 9) + 40",
           "c AS sum(b.w) = x", "c AS avg(w) - x > 0.5 * avg(w)", "c AS bool_or(b.y > 90)",
           "c AS sum(c.w) / 2 < sum(b.w) - 3 * x", "c AS x / (w - 3) > sum(b.x)",
           "c AS avg(b.w) > x / 2.0 - 20 AND x < 30")  # fmt: skip
OF_LAST = ("d AS x < 40", "d AS x > 98", "d AS x < a.x - 50", "d AS x < LAST(c.x) - 55",
           "d AS x > FIRST(b.y)", "d AS x > FIRST(b.y, 1) + 40")  # fmt: skip
OF_STARTS = ("", "a AS x > 60", "a AS z > 0.5")
OF_WAYS = ("a (b | c)* d", "a (c | b)*? d", "a (b | c)+ b", "(b{2,15} c)+ d")
"""Patterns whose loops go several ways: with sums of one of them, a row may have as many runs as
there are ways to it, and the reference tries each of them."""
APART = ("b AS x < 20, c AS x >= 20 AND x < 95", "b AS x <= 30, c AS y > 30 AND x > 30",
         "b AS x > PREV(x), c AS x < PREV(x)", "b AS x < 10, c AS x > 10",
         "b AS x < 50, c AS x > 40")  # fmt: skip
"""Alternatives, most of which no row can both be."""
OF_APART = ("(b | c)+ d", "a (b | c)* d", "(a | b | c)+? d", "(b | c){3,} d", "a (c | b)* d*",
            "((b | c) (b | c))+ d", "(b | c)+ b d", "a (b | c)*? (c | b)+ d")  # fmt: skip
OF_BOTH = ("d AS sum(b.x) > 2 * sum(c.x) + 100", "d AS count(b.*) > count(c.*) + 10",
           "d AS avg(b.x) + 40 < avg(c.x)", "d AS max(c.y) > 60 AND min(b.w) < -40",
           "d AS sum(u.x) > 900 AND x < 30", "d AS stddev(c.x) > 1.2 * stddev(b.x)",
           "d AS x > LAST(b.x) + 30", "d AS x < FIRST(u.x) - 40", "d AS CLASSIFIER(u) = 'B'",
           "d AS sum(b.z) > 3 * sum(c.z) + 4", "d AS count(b.y) = 20", "d AS x > max_by(b.x, b.w)",
           "d AS PREV(CLASSIFIER()) = 'C' AND x > 90", "d AS sum(x) > 500")  # fmt: skip
WITHIN = "WITHIN INTERVAL '70' SECOND"
SKIPS = ("", "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP TO LAST c")


def names(text: str) -> set[str]:
    """The variables in a pattern or a condition."""
    return set(re.findall(r"\b[abcd]\b", text))


def drawn_clause(draw: Random, patterns: tuple[str, ...] = PATTERNS) -> str:
    """A clause that is not searched in Python, where nothing leaps and long tables take minutes."""
    while True:
        text = _drawn_clause(draw, patterns)
        clause = parse(text)
        if not is_searched(clause, automaton(clause.pattern)):
            return text


def _drawn_clause(draw: Random, patterns: tuple[str, ...]) -> str:
    pattern = draw.choice(patterns)
    defined = [draw.choice(each) for each in (OF_STARTS, OF_LOOPS, OF_ENDS, OF_LAST)]
    usable = [each for each in defined if each and names(each) <= names(pattern)]
    conditions = ", ".join(usable) or f"{min(names(pattern))} AS x < 60"
    certain = "c" in pattern and "|" not in pattern
    skip = draw.choice(SKIPS if certain else SKIPS[:2])
    last = "LAST(b.ts)" if "b" in pattern else "LAST(ts)"
    within = draw.choice(["", "", WITHIN, f"{WITHIN} WITH TIMEOUTS"])
    return f"""MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n,
        {last} AS l, CLASSIFIER() AS v {skip} PATTERN ({pattern}) {within}
        DEFINE {conditions})"""


def drawn_apart(draw: Random) -> str:
    """A clause with alternatives that rows tell apart."""
    pattern, last = draw.choice(OF_APART), draw.choice(OF_BOTH)
    within = draw.choice(["", "", WITHIN])
    skip = draw.choice(("", "AFTER MATCH SKIP TO NEXT ROW"))
    start = "a AS x > 95, " if "a" in pattern else ""
    return f"""MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n,
        LAST(b.ts) AS l, sum(c.x) AS s, CLASSIFIER() AS v {skip} PATTERN ({pattern}) {within}
        SUBSET u = (b, c) DEFINE {start}{draw.choice(APART)}, {last})"""


def drawn_table(draw: Random, rows: int) -> pa.Table:
    """Values that seldom rise above those before: most starts wait for long."""
    high = draw.choice([30, 70, 100])

    def value(row: int) -> int:
        return draw.randrange(98 if draw.randrange(rows) < 3 else high)

    return pa.table(
        {
            "k": [draw.choice("pqqqq") for _ in range(rows)],
            "ts": pa.array([1_000_000 * row for row in range(rows)], pa.timestamp("us")),
            "x": [value(row) for row in range(rows)],
            "y": [None if draw.randrange(20) == 0 else value(row) for row in range(rows)],
            "w": [draw.randrange(-50, 50) if draw.randrange(9) else None for _ in range(rows)],
            "z": [draw.choice([0.25, value(row) / 50, float("inf")]) for row in range(rows)],
        }
    )


def emitted(text: str, table: pa.Table) -> list[dict[str, Any]]:
    return cereus.compile(text, dialect="match_recognize").run(table, threads=1).table.to_pylist()


def without_zone(value: Any) -> Any:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def by_start(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["f"].replace(tzinfo=None), row["n"]))


@pytest.fixture
def leaping(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(find, "FREE_WORK", 0)
    monkeypatch.setattr(find, "WORK_PER_ROW", 0)
    return monkeypatch


def none_alike(tables: SlotTables, _: RowTables) -> Alike:
    return Alike(np.full(tables.live.shape[1], -1, np.int32), np.zeros((1, 1), np.int32))


@pytest.mark.parametrize("block", range(4))
def test_leaping_changes_no_answer(block: int, leaping: pytest.MonkeyPatch) -> None:
    for seed in range(block, 4 * volume(6, 50), 4):
        draw = Random(seed)
        text, table = drawn_clause(draw), drawn_table(draw, draw.choice([60, 200, 500]))
        found = emitted(text, table)
        with leaping.context() as patch:
            patch.setattr(find, "blocks", lambda *_: None)
            patch.setattr(find, "places", lambda *_: None)
            patch.setattr(find, "alike", none_alike)
            assert found == emitted(text, table), (seed, text)


WAITS = (
    "b AS x > 3 * sum(a.x * a.y) / sum(a.y)",
    "b AS x > 3 * avg(a.x)",
    "b AS sum(a.x) > 60 * count(a.*)",
    "b AS count_if(a.x > 50) > 0.9 * count(a.*) AND count(a.*) > 20",
    "b AS bool_and(a.x < 60) AND x > 90",
    "b AS x > 90 + LAST(a.x, 20)",
)


def waiting_table(rows: int) -> pa.Table:
    draw = Random(5)
    return pa.table(
        {
            "ts": range(rows),
            "x": [draw.randrange(100) for _ in range(rows)],
            "y": [draw.randrange(1, 9) for _ in range(rows)],
        }
    )


@pytest.mark.parametrize("condition", WAITS)
def test_starts_that_wait_for_what_is_linear_in_sums_read_few_rows(
    condition: str, leaping: pytest.MonkeyPatch
) -> None:
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN (a+ b) DEFINE {condition})"""
    query, table = cereus.compile(text, dialect="match_recognize"), waiting_table(1_200)
    found = query.run(table, threads=1)
    assert found.costs.steps < 40 * table.num_rows
    leaping.setattr(find, "row_lines", lambda *_: None)
    assert query.run(table, threads=1).table == found.table


def test_alternatives_that_rows_tell_apart_leap(leaping: pytest.MonkeyPatch) -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN ((a | b)+ c) DEFINE a AS x < 50, b AS x >= 50, c AS sum(a.x) > 2 * sum(b.x))"""
    query, table = cereus.compile(text, dialect="match_recognize"), waiting_table(1_200)
    assert query.run(table, threads=1).costs.steps < 40 * table.num_rows


def test_a_limit_ends_starts_that_read_many_rows(leaping: pytest.MonkeyPatch) -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN (a+ b) DEFINE b AS x = stddev(a.x))"""
    limits = cereus.Limits(steps_per_event=20)
    query = cereus.compile(text, dialect="match_recognize", limits=limits)
    with pytest.raises(LimitError, match=r"more than 20 rows for each row \(limit steps_per_event"):
        query.run(waiting_table(3_000), threads=1)


@pytest.mark.parametrize("block", range(2))
def test_alternatives_as_one_state_change_no_answer(
    block: int, leaping: pytest.MonkeyPatch
) -> None:
    for seed in range(block, 2 * volume(8, 80), 2):
        draw = Random(1_000 + seed)
        text, table = drawn_apart(draw), drawn_table(draw, draw.choice([60, 120, 250]))
        found = emitted(text, table)
        with leaping.context() as patch:
            patch.setattr(find, "blocks", lambda *_: None)
            patch.setattr(find, "places", lambda *_: None)
            patch.setattr(searched, "alternatives", lambda *_: None)
            assert found == emitted(text, table), (seed, text)


def by_definition(text: str, table: pa.Table) -> list[dict[str, Any]]:
    rows = reference.run(parse(text), table.to_pylist(), table.column_names)
    return [{name: without_zone(value) for name, value in row.items()} for row in rows]


def test_what_is_found_by_leaping_is_what_the_definition_gives(
    leaping: pytest.MonkeyPatch,
) -> None:
    for seed in range(volume(10, 50)):
        draw = Random(seed)
        text, table = drawn_clause(draw), drawn_table(draw, 70)
        if "{" not in text:
            assert by_start(emitted(text, table)) == by_start(by_definition(text, table)), text


def test_loops_that_go_several_ways_are_what_the_definition_gives(
    leaping: pytest.MonkeyPatch,
) -> None:
    """On few rows: the reference tries every way, twice as many with each row."""
    for seed in range(volume(15, 200)):
        draw = Random(seed)
        text, table = drawn_clause(draw, OF_WAYS), drawn_table(draw, 11)
        assert by_start(emitted(text, table)) == by_start(by_definition(text, table)), text


def test_a_first_row_of_nulls_is_not_the_lack_of_one(leaping: pytest.MonkeyPatch) -> None:
    """A run that has a first b keeps it, also where its x is NULL; one that has none may get one.
    They were taken for the same, and 15,000 of 40,000 matches were lost."""
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(b.ts) AS f, count(*) AS n
        PATTERN (a (b | c)* d) DEFINE a AS k = 'a', b AS k = 'm', c AS k = 'm',
        d AS k = 'd' AND x > FIRST(b.x))"""
    rows = {"ts": [0, 1, 2, 3], "k": ["a", "m", "m", "d"], "x": [1, None, 5, 7]}
    assert emitted(text, pa.table(rows)) == [{"f": 2, "n": 4}]


def test_a_reluctant_loop_at_the_end_of_a_pattern_ends(leaping: pytest.MonkeyPatch) -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN (a b{13,}?) DEFINE a AS x = 0, b AS x > a.x)"""
    table = pa.table({"ts": range(31), "x": [0] + 30 * [1]})
    assert emitted(text, table) == [{"f": 0, "n": 14}]


def test_what_waits_behind_full_rounds_is_not_leapt_over(leaping: pytest.MonkeyPatch) -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN (a (b{13,14})+ c) DEFINE a AS x = 0, b AS x > a.x, c AS x = 2)"""
    x = [-1, 0, *14 * [1], 2, *29 * [1], 2, *9 * [1]]
    assert emitted(text, pa.table({"ts": range(len(x)), "x": x})) == [{"f": 1, "n": 16}]


@pytest.mark.parametrize("pattern", OF_ROUNDS)
def test_leaping_over_counted_rounds_changes_no_answer(
    pattern: str, leaping: pytest.MonkeyPatch
) -> None:
    """With rounds as copies of states, which are read row by row."""
    for seed in range(volume(3, 30)):
        draw = Random(seed)
        text, table = drawn_clause(draw, (pattern,)), drawn_table(draw, draw.choice([60, 200]))
        found = emitted(text, table)
        with leaping.context() as patch:
            patch.setattr(program, "MOST_COPIES", 10**6)
            patch.setattr(find, "blocks", lambda *_: None)
            assert found == emitted(text, table), (seed, text)


MANY_ROUNDS = ("a{30} b", "a{2,40} b c", "a b{1,40} c{1,40} d", "a{20}? b{1,40}? c",
               "(a{30,} | b{30}) c", "^ a{20,50} b", "a{3,60} $", "b? a{25,}? {- c{1,30} -} d",
               "a{,40}")  # fmt: skip


@pytest.mark.parametrize("pattern", MANY_ROUNDS)
def test_many_rounds_that_rows_decide_may_be_counted(
    pattern: str, leaping: pytest.MonkeyPatch
) -> None:
    """By runs that count, and by sets of states."""
    conditions = {"a": "x > 5", "b": "y > 3 OR x > 5", "c": "x < 6 OR y > 50", "d": "x < 8"}
    defined = ", ".join(f"{v} AS {conditions[v]}" for v in sorted(names(pattern)))
    for seed in range(volume(2, 20)):
        draw = Random(seed)
        rows = draw.choice(("ONE ROW PER MATCH", "ALL ROWS PER MATCH"))
        text = f"""MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS f,
            count(*) AS n, CLASSIFIER() AS v {rows} {draw.choice(SKIPS[:2])} PATTERN ({pattern})
            DEFINE {defined})"""
        table = drawn_table(draw, draw.choice([60, 300]))
        by_sets = emitted(text, table)
        with leaping.context() as patch:
            patch.setattr(finding, "MANY_STATES", 10)
            assert emitted(text, table) == by_sets, (seed, text)


@pytest.mark.usefixtures("leaping")
@pytest.mark.parametrize("before", ["", pytest.param("a b*?", marks=pytest.mark.long)])
def test_a_row_may_begin_more_runs_than_there_is_room_for(before: str) -> None:
    """Arrays of runs grow before they are written to. They did not where runs begin, nor behind a
    leap, and the process died. There is room for 256 at first."""
    names = [f"c{number}" for number in range(300)]
    defined = ", ".join(f"{name} AS x = 1" for name in names)
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, count(*) AS n
        PATTERN ({before} ({" | ".join(names)}) d)
        DEFINE {"a AS x = 2, b AS x = 0," if before else ""} {defined}, d AS y > c0.y)"""
    x = [2, *31 * [0], 1, 3] if before else [1, 1, 2]
    table = pa.table({"ts": range(len(x)), "x": x, "y": range(len(x))})
    assert emitted(text, table) == [{"f": 0, "n": len(x) if before else 2}]


def work_of(text: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows runs read to find that there is no match."""
    searches = []
    make = slots_kernel.Search

    def noted(*given: Any) -> Any:
        searches.append(make(*given))
        return searches[-1]

    monkeypatch.setattr(slots_kernel, "Search", noted)
    assert not emitted(text, table)
    return sum(search.work_done() for search in searches)


def test_starts_that_wait_for_long_read_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second row is a start, and its end never comes."""
    rows = 4_000
    table = pa.table({"ts": range(rows), "x": [row % 2 * (rows - row) for row in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b*? c)
        DEFINE a AS x > 0, c AS x > a.x)"""
    assert 0 < work_of(text, table, monkeypatch) < 50 * rows


def test_runs_in_several_loops_leap_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """From every start, half of the rows could be a c, and none is an e."""
    rows = 4_000
    table = pa.table({"ts": range(rows), "x": [row % 2 * 9 + row / rows for row in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b*? c d*? e)
        DEFINE a AS x < 5, c AS x > a.x + 5, e AS x < a.x AND x < 5)"""
    assert 0 < work_of(text, table, monkeypatch) < 50 * rows


def test_rounds_that_are_counted_leap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every start could wait for a thousand rows."""
    rows = 4_000
    table = pa.table({"ts": range(rows), "x": [rows - row for row in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b{2,1000} c)
        DEFINE c AS x > a.x)"""
    assert 0 < work_of(text, table, monkeypatch) < 50 * rows


def test_starts_with_the_values_of_earlier_ones_read_few_rows(
    leaping: pytest.MonkeyPatch,
) -> None:
    """Two loops wait for what never comes: no rows are leapt over. There are three kinds of
    starts."""
    rows = 3_000
    table = pa.table({"ts": range(rows), "x": [row % 3 for row in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b*? c d*? e)
        DEFINE c AS x > a.x, e AS x > a.x + 5)"""
    assert 0 < work_of(text, table, leaping) < 60 * rows


def test_extremes_soon_are_those_of_earlier_starts(leaping: pytest.MonkeyPatch) -> None:
    """Values rise slowly, so blocks of rows do not tell."""
    rows = 3_000
    table = pa.table({"ts": range(rows), "x": [row - row % 7 * 3 for row in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (a b+ c)
        DEFINE c AS x > max(b.x) + 30)"""
    assert 0 < work_of(text, table, leaping) < 60 * rows


def test_runs_whose_slots_hold_equal_values_are_one(leaping: pytest.MonkeyPatch) -> None:
    """From the first row a run of its own would go on behind every c."""
    rows = 2_000
    table = pa.table({"ts": range(rows), "x": [7] * rows})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (^ a b* c d* e)
        DEFINE c AS x >= a.x, e AS MOD(x - c.x, 3) = 1)"""
    assert 0 < work_of(text, table, leaping) < 20 * rows


def test_arrays_of_runs_grow_to_the_limit_and_not_beyond() -> None:
    """Four times as many each time, they once had room for 67 million runs where 20 million are
    allowed, and took all memory before the limit was looked at."""
    room = find.Room(3, 1, cereus.Limits(configurations=5_000, nodes=20_000))
    sizes = []
    with pytest.raises(LimitError, match=r"more than 5,000 runs of one start .*configurations"):
        while True:
            sizes.append((room.runs, len(room.states[0]) - 1, len(room.chains) - 1))
            assert len(room.buckets).bit_count() == 1, "buckets are found by a mask of bits"
            room.grow(codes.TOO_MANY_RUNS)
    assert sizes == [(size,) * 3 for size in (256, 1024, 4096, 5000)]
    with pytest.raises(LimitError, match=r"more than 20,000 rows of runs .*nodes"):
        while True:
            assert len(room.parents) == room.nodes <= 20_000
            room.grow(codes.TOO_MANY_NODES)


@pytest.mark.parametrize("leap", [False, True])
def test_more_runs_than_the_limit_are_an_error(leap: bool, request: pytest.FixtureRequest) -> None:
    """From each start a run goes on behind every c, whose x are all different."""
    if leap:
        request.getfixturevalue("leaping")
    rows = 1_000
    table = pa.table({"ts": range(rows), "x": range(rows)})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES count(*) AS n PATTERN (^ a b* c d* e)
        DEFINE c AS x >= a.x, e AS MOD(x - c.x, 3) = 7)"""
    query = cereus.compile(
        text, dialect="match_recognize", limits=cereus.Limits(configurations=300)
    )
    with pytest.raises(LimitError, match=r"more than 300 runs of one start"):
        query.run(table, threads=1)
