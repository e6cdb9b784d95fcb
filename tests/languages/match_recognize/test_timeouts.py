"""WITH TIMEOUTS: partial matches that their window ended are emitted, and matches stay the same."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import cereus
from cereus.errors import QueryError
from tests.languages.match_recognize.random_clauses import OF_ROW, OF_SLOTS, clauses, tables
from tests.volume import volume

START = datetime(2024, 1, 1)
BEGIN = 1_704_067_200_000_000
CLAUSE = """
    MATCH_RECOGNIZE (
      ORDER BY ts MEASURES MATCH_NUMBER() AS number, FIRST(i) AS f, LAST(i) AS l, {measures}
      {rows} AFTER MATCH SKIP {skip}
      PATTERN ({pattern}) WITHIN INTERVAL '3' SECOND WITH TIMEOUTS
      DEFINE {define}
    )
"""


def clause(
    pattern: str, skip: str = "PAST LAST ROW", rows: str = "", measures: str = "1 AS m"
) -> str:
    define = ", ".join(f"{v} AS c = '{v}'" for v in sorted(set(re.findall("[abd]", pattern))))
    return CLAUSE.format(pattern=pattern, skip=skip, rows=rows, measures=measures, define=define)


def events(letters: str, seconds: list[int] | None = None) -> pa.Table:
    times = [START + timedelta(seconds=n) for n in seconds or range(len(letters))]
    return pa.table({"ts": times, "i": list(range(len(letters))), "c": list(letters)})


def rows_of(text: str, table: pa.Table) -> list[dict[str, Any]]:
    return list(cereus.compile(text, dialect="match_recognize").run(table))


def late(text: str, table: pa.Table) -> list[tuple[int, int, str, str]]:
    """First and last row, how far it came and what it waited for."""
    names = ("f", "l", "reached", "waiting_for")
    return [tuple(row[name] for name in names) for row in rows_of(text, table) if row["timed_out"]]


def test_a_match_that_its_window_ended_says_how_far_it_came() -> None:
    (row,) = rows_of(clause("a b d"), events("ab", [0, 1]))
    assert row == {
        "number": None, "f": 0, "l": 1, "m": 1, "timed_out": True,
        "reached": "B", "waiting_for": "D", "deadline": START + timedelta(seconds=3),
    }  # fmt: skip


def test_a_complete_match_has_no_deadline() -> None:
    (row,) = rows_of(clause("a b"), events("ab"))
    assert (row["number"], row["timed_out"]) == (1, False)
    assert row["reached"] is row["waiting_for"] is row["deadline"] is None


def test_a_row_inside_the_window_that_does_not_fit_is_no_timeout() -> None:
    assert late(clause("a b"), events("ac", [0, 1])) == []


def test_a_row_behind_the_window_ends_it() -> None:
    assert late(clause("a b"), events("ab", [0, 3])) == [(0, 0, "A", "B")]


def test_the_end_of_the_rows_ends_every_window() -> None:
    assert late(clause("a b"), events("ca")) == [(1, 1, "A", "B")]


def test_what_is_waited_for_is_in_order_of_preference() -> None:
    assert late(clause("a (b | d)"), events("a")) == [(0, 0, "A", "B or D")]
    assert late(clause("a b*? d"), events("ab")) == [(0, 1, "B", "D or B")]


def test_the_end_of_the_partition_is_not_a_row_that_is_waited_for() -> None:
    """A b may still come behind `a b`; behind `a` alone nothing but the end may."""
    assert late(clause("a b* $"), events("abd", [0, 1, 9])) == [(0, 1, "B", "B")]
    assert late(clause("a $"), events("ad", [0, 9])) == []
    (row,) = rows_of(clause("a b* $"), events("ab", [0, 1]))
    assert (row["l"], row["timed_out"]) == (1, False)


def test_a_later_start_inside_a_partial_match_is_not_put_out_again() -> None:
    assert late(clause("a+ b"), events("aaa")) == [(0, 2, "A", "A or B")]


def test_under_skip_to_next_row_every_start_is_put_out() -> None:
    found = late(clause("a+ b", skip="TO NEXT ROW"), events("aaa"))
    assert [(first, last) for first, last, *_ in found] == [(0, 2), (1, 2), (2, 2)]


def test_numbers_count_complete_matches_only() -> None:
    found = rows_of(clause("a b"), events("abaab", [0, 1, 2, 9, 10]))
    assert [(row["number"], row["f"]) for row in found] == [(1, 0), (None, 2), (2, 3)]


def test_all_rows_of_a_partial_match_are_put_out() -> None:
    text = clause("a {- b -} d d", rows="ALL ROWS PER MATCH", measures="CLASSIFIER() AS v")
    found = rows_of(text, events("abd"))
    assert [(row["i"], row["v"], row["timed_out"]) for row in found] == [
        (0, "A", True), (2, "D", True),
    ]  # fmt: skip


def test_time_that_passes_puts_a_partial_match_out() -> None:
    recognizer = cereus.compile(clause("a b"), dialect="match_recognize").recognizer()
    assert not len(recognizer.push(events("a")))
    assert not len(recognizer.advance(2_000_000 + BEGIN))
    assert [row["waiting_for"] for row in recognizer.advance(3_000_000 + BEGIN)] == ["B"]
    assert not len(recognizer.finish())


def test_time_does_not_decide_while_a_row_waits_for_the_one_behind_it() -> None:
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(i) AS f, NEXT(b.i) AS n
        PATTERN (a b) WITHIN INTERVAL '3' SECOND DEFINE a AS c = 'a', b AS c = 'b')"""
    recognizer = cereus.compile(text, dialect="match_recognize").recognizer()
    table = events("abc", [0, 1, 60])
    assert not len(recognizer.push(table.slice(0, 2)))
    assert not len(recognizer.advance(30_000_000 + BEGIN))
    assert [(row["f"], row["n"]) for row in recognizer.push(table.slice(2))] == [(0, 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (clause("a b", rows="ALL ROWS PER MATCH WITH UNMATCHED ROWS"), "cannot be combined"),
        (clause("a b", measures="1 AS deadline"), "two columns 'deadline'"),
    ],
    ids=["unmatched rows", "a measure of that name"],
)
def test_what_does_not_go_with_timeouts_is_refused(text: str, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        cereus.compile(text, dialect="match_recognize")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=volume(10, 50))
@given(text=clauses(OF_ROW + OF_SLOTS, within=True), table=tables())
def test_complete_matches_are_those_without_timeouts(text: str, table: pa.Table) -> None:
    text = text.replace(" WITH TIMEOUTS", "").replace(" WITH UNMATCHED ROWS", "")
    length = text[text.index("WITHIN") :].split("SECOND")[0] + "SECOND"
    try:
        plain = rows_of(text, table)
    except cereus.CereusError:  # SKIP TO goes nowhere
        return
    found = rows_of(text.replace(length, length + " WITH TIMEOUTS"), table)
    complete = [row for row in found if not row["timed_out"]]
    names = ("timed_out", "reached", "waiting_for", "deadline")
    assert [{k: v for k, v in row.items() if k not in names} for row in complete] == plain
