"""Texts of MATCH_RECOGNIZE: what is read, printed and refused."""

from __future__ import annotations

import re
from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings

import cereus
from cereus.errors import CereusError, QueryError
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.print import interval_text
from cereus.languages.match_recognize.text import parse, to_text
from tests.languages.match_recognize.random_clauses import (
    OF_AGGREGATES,
    OF_ROW,
    OF_SEARCH,
    OF_SLOTS,
    clauses,
)
from tests.volume import volume


@settings(max_examples=volume(15, 100))
@given(text=clauses(OF_ROW + OF_SLOTS + OF_AGGREGATES + OF_SEARCH))
def test_a_printed_clause_is_read_as_it_was(text: str) -> None:
    clause = parse(text)
    assert parse(to_text(clause)) == clause


def clause(pattern: str = "a b+", define: str = "b AS b.x > 1", **parts: str) -> str:
    measures = parts.get("measures", "LAST(b.x) AS last_x")
    return (
        f"MATCH_RECOGNIZE ({parts.get('order', '')} MEASURES {measures} {parts.get('rows', '')} "
        f"{parts.get('skip', '')} PATTERN ({pattern}) {parts.get('behind', '')} DEFINE {define})"
    )


def test_variables_are_read_in_any_case_unless_quoted() -> None:
    assert parse(clause('a "b" B', 'B AS true, "b" AS x > 1')).variables() == ("A", "b", "B")


def test_comments_and_sql_spellings_are_read() -> None:
    text = clause(measures="'x' || \"y\" AS z -- why\n, /* how */ count(*) AS n")
    assert [measure.name for measure in parse(text).measures] == ["z", "n"]


def test_intervals_are_written_as_in_sql() -> None:
    read = parse(clause(order="ORDER BY ts", behind="WITHIN INTERVAL '3:10' MINUTE TO SECOND"))
    assert read.within is not None and read.within.length.total_seconds() == 190


SPELLINGS = {
    "CAST(b.x AS double)": 3.0,
    "CAST(b.x AS double precision)": 3.0,
    "TRY_CAST('7' AS integer)": 7,
    "b.x::double": 3.0,
    "CAST(b.x / 7.0 AS decimal(10, 2))": 0.43,
    "EXTRACT(YEAR FROM TIMESTAMP '2024-05-06 00:00:00')": 2024,
    "(b.x > 1) IS TRUE": True,
    "(NULL > b.x) IS NOT FALSE": True,
    "(NULL > b.x) IS UNKNOWN": True,
    "b.x IS DISTINCT FROM NULL": True,
    "a.x IS NOT DISTINCT FROM 1": True,
    "nullif(b.x, 3)": None,
    "if(b.x > 2, 'high')": "high",
    "MATCH_SEQUENCE_NUMBER()": 3,
    "max_by(x, -x)": 1,
    "min_by(b.x, -b.x)": 3,
    "stddev(x)": 1.0,
    "var_pop(b.x)": 0.25,
    "listagg(CLASSIFIER(), '-')": "A-B-B",
    "array_join(array_agg(b.x), ',')": "2,3",
    "concat_ws('', array_agg(lower(CLASSIFIER())))": "abb",
}


@pytest.mark.parametrize(("measure", "value"), SPELLINGS.items(), ids=list(SPELLINGS))
def test_a_measure_is_spelt_as_in_sql(measure: str, value: object) -> None:
    text = clause(measures=f"{measure} AS m")
    (row,) = cereus.compile(text, dialect="match_recognize").run(pa.table({"x": [1, 2, 3]}))
    assert row == {"m": value}
    assert parse(to_text(parse(text))) == parse(text)


REFUSED = {
    "an unknown variable in DEFINE": (clause(define="c AS true"), "C is not a variable", "c"),
    "a variable defined twice": (clause(define="b AS true, b AS true"), "defined twice", "b"),
    "FINAL in DEFINE": (clause(define="b AS FINAL LAST(b.x) > 1"), "FINAL has no meaning", "FINAL"),
    "PREV around PREV": (clause(define="b AS PREV(NEXT(x)) > 1"), "cannot stand inside", "NEXT"),
    "FIRST around PREV": (clause(define="b AS FIRST(PREV(x)) > 1"), "cannot stand inside", "PREV"),
    "two variables in one call": (clause(define="b AS sum(a.x + b.x) > 1"), "one variable", "sum"),
    "a negative offset": (clause(define="b AS PREV(x, -1) > 1"), "whole number", "-1"),
    "RUNNING before PREV": (clause(measures="RUNNING PREV(x) AS p"), "stands before", "RUNNING"),
    "an unknown skip": (clause(skip="AFTER MATCH SKIP TO c"), "C is not a variable", "AFTER"),
    "an upper bound of 0": (clause("a{0} b"), "at least 1", "{0}"),
    "bounds that cross": (clause("a{3,1} b"), "exceeds", "{3,1}"),
    "exclusion with unmatched rows": (
        clause("{- a -} b", rows="ALL ROWS PER MATCH WITH UNMATCHED ROWS"),
        "cannot be combined",
        "{-",
    ),
    "WITHIN without an order": (clause(behind="WITHIN INTERVAL '1' HOUR"), "ORDER BY", "WITHIN"),
    "DISTINCT": (clause(measures="count(DISTINCT x) AS n"), "DISTINCT", "count"),
    "a subquery": (clause(define="b AS (SELECT 1) = x"), "subqueries", "SELECT"),
    "a subset of an unknown": (clause(behind="SUBSET u = (a, c)"), "C is not a variable", "u"),
    "an order by an expression": (clause(order="ORDER BY x + 1"), "takes columns", "x"),
    "a list": (clause(measures="ARRAY[x] AS m"), "cannot be written", "ARRAY"),
    "an element of a column": (clause(measures="x[1] AS m"), "this is none", "x"),
    "an element by a column": (clause(measures="array_agg(x)[y] AS m"), "literals", "array_agg"),
    "no number of values": (clause(measures="min(x, 0) AS m"), "how many", "0"),
    "maps of two keys": (
        clause(measures="map_union(MAP(ARRAY[x, y], ARRAY[x, y])) AS m"),
        "one key",
        "MAP",
    ),
    "months": (clause(measures="date_add('month', 1, ts) AS m"), "unit", "'month'"),
    "the clock": (clause(measures="MATCH_PROCTIME() AS m"), "Flink's", "MATCH_PROCTIME"),
    "a separator of no text": (clause(measures="string_agg(y, x) AS m"), "is a text", "x"),
    "max_by of one": (clause(measures="max_by(x) AS m"), "takes 2 arguments", "max_by"),
    "array_join of a column": (
        clause(measures="array_join(x, ',') AS m"),
        "a list or a map of an aggregate",
        "x",
    ),
    "SEEK": (clause(skip="SEEK"), "SEEK", "SEEK"),
    "an open pattern": ("MATCH_RECOGNIZE (PATTERN (a b+ DEFINE b AS x > 1)", "before DEFINE", "AS"),
    "a variable twice": ("MATCH_RECOGNIZE (PATTERN (a) DEFINE a AS define AS 2)", "expected", "AS"),
}


@pytest.mark.parametrize(("text", "words", "place"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_refused_shows_its_place(text: str, words: str, place: str) -> None:
    with pytest.raises(QueryError, match=words) as raised:
        parse(text)
    assert raised.value.span is not None
    assert text[raised.value.span[0] :].startswith(place)


def test_a_condition_that_is_no_condition_is_refused_with_the_schema() -> None:
    with pytest.raises(QueryError, match="must be true or false"):
        cereus.compile(
            clause(define="b AS b.x"),
            dialect="match_recognize",
            schema=pa.schema({"x": pa.int64()}),
        )


def test_columns_are_found_in_any_case() -> None:
    table = pa.table({"X": [1, 2, 3]})
    (row,) = cereus.compile(clause(), dialect="match_recognize").run(table)
    assert row == {"last_x": 3}


def test_a_tree_is_compiled_as_a_text_is() -> None:
    table = pa.table({"x": [1, 2, 3]})
    assert list(cereus.compile(parse(clause())).run(table)) == [{"last_x": 3}]
    assert isinstance(parse(clause()), tree.Clause)


def test_a_sum_that_does_not_fit_is_null() -> None:
    text = "MATCH_RECOGNIZE (MEASURES sum(x) AS total, avg(x) AS mean PATTERN (a a))"
    (row,) = cereus.compile(text, dialect="match_recognize").run(pa.table({"x": [2**62, 2**62]}))
    assert row == {"total": None, "mean": 2.0**62}


@pytest.mark.parametrize("function", ["min(x)", "max(a.x)", "max_by(n, x)"])
def test_lists_have_no_order(function: str) -> None:
    schema = pa.schema({"x": pa.list_(pa.int64()), "n": pa.int64()})
    with pytest.raises(QueryError, match="needs an order"):
        cereus.compile(
            f"MATCH_RECOGNIZE (MEASURES {function} AS m PATTERN (a b))",
            dialect="match_recognize",
            schema=schema,
        )


def test_texts_may_be_views() -> None:
    texts = pa.array(["p", None, "q"], pa.string_view())
    text = "MATCH_RECOGNIZE (ORDER BY s MEASURES LAST(s, 1) AS m PATTERN (a+))"
    query, table = cereus.compile(text, dialect="match_recognize"), pa.table({"s": texts})
    assert list(query.run(table)) == [{"m": "q"}]
    recognizer = query.recognizer()
    for text in ("p", "q", None):
        recognizer.push(pa.table({"s": pa.array([text], pa.string_view())}))
    assert list(recognizer.finish()) == [{"m": "q"}]


def test_a_type_that_cannot_be_compared_is_said_of_its_column() -> None:
    text = "MATCH_RECOGNIZE (MEASURES 1 AS m PATTERN (a b) DEFINE b AS x > LAST(a.x))"
    with pytest.raises(QueryError, match="'x' is of type time64"):
        schema = pa.schema({"x": pa.time64("us")})
        cereus.compile(text, dialect="match_recognize", schema=schema)


def test_the_hint_on_two_types_names_the_column() -> None:
    text = "MATCH_RECOGNIZE (MEASURES 1 AS m PATTERN (a b) DEFINE b AS b.x > 0)"
    with pytest.raises(QueryError) as caught:
        cereus.compile(text, dialect="match_recognize", schema=pa.schema({"x": pa.string()}))
    assert caught.value.hint is not None and 'types={"x": "double"}' in caught.value.hint


# ---------------------------------------------------------------- statements


@pytest.mark.parametrize(
    "table",
    ["t", "t AS t", "(SELECT * FROM t) T", "(SELECT * FROM t) AS t (x, y)", 'main."t"'],
)
def test_the_table_may_stand_before_columns_of_partition_and_order(table: str) -> None:
    clause = "MATCH_RECOGNIZE (PARTITION BY t.y ORDER BY T . x DESC MEASURES a.x AS m PATTERN (a+))"
    found = cereus.sql(f"SELECT * FROM {table} {clause}", t=pa.table({"x": [1, 2], "y": [3, 3]}))
    assert found.to_pylist() == [{"y": 3, "m": 1}]


def test_the_table_does_not_stand_before_columns_of_conditions() -> None:
    """There, a name before a column is a variable."""
    text = "SELECT * FROM t MATCH_RECOGNIZE (MEASURES t.x AS m PATTERN (a+) DEFINE a AS x > 0)"
    with pytest.raises(QueryError, match="t is not a variable of the pattern") as caught:
        cereus.sql(text, t=pa.table({"x": [1, 2]}))
    assert caught.value.hint == "write x for the rows of all variables"


def test_columns_that_differ_only_in_case_are_refused() -> None:
    with pytest.raises(CereusError, match="differ only in case"):
        cereus.sql(f"SELECT * FROM t {clause()}", t=pa.table({"x": [1], "X": [2]}))


def test_strings_comments_and_quotes_do_not_hide_or_make_clauses() -> None:
    table = pa.table({"x": [1, 2, 3]})
    statement = f"""
        SELECT 'MATCH_RECOGNIZE (' AS "MATCH_RECOGNIZE (", m.last_x -- MATCH_RECOGNIZE (
        FROM t /* MATCH_RECOGNIZE ( */ {clause()} m
    """
    assert cereus.sql(statement, t=table).to_pylist() == [
        {"MATCH_RECOGNIZE (": "MATCH_RECOGNIZE (", "last_x": 3}
    ]


def test_a_clause_may_read_the_rows_of_another() -> None:
    table = pa.table({"x": [1, 2, 3, 1, 5]})
    inner = clause("a b*", "b AS b.x > PREV(b.x)", measures="FIRST(x) AS f, LAST(x) AS l")
    outer = "MATCH_RECOGNIZE (MEASURES sum(l) AS total PATTERN (a+))"
    statement = f"SELECT total FROM (SELECT * FROM t {inner} AS r) AS s {outer} AS m"
    assert cereus.sql(statement, t=table).to_pylist() == [{"total": 8}]


def test_an_alias_names_all_columns_or_none() -> None:
    with pytest.raises(CereusError, match="names 2 columns"):
        cereus.sql(f"SELECT * FROM t {clause()} AS m (a, b)", t=pa.table({"x": [1, 2]}))


def test_a_clause_needs_a_table() -> None:
    with pytest.raises(QueryError, match="must follow a table"):
        cereus.sql(f"SELECT * FROM {clause()}")


def test_a_column_that_is_named_twice_is_emitted_twice() -> None:
    """ALL ROWS PER MATCH: the columns of PARTITION BY, then those of ORDER BY."""
    text = "MATCH_RECOGNIZE (PARTITION BY x ORDER BY y, x, y DESC ALL ROWS PER MATCH PATTERN (a))"
    found = cereus.compile(text, dialect="match_recognize").run(pa.table({"x": [1], "y": [2]}))
    assert found.table.to_pylist() == [{"x": 1, "y": 2, "x_1": 1, "y_1": 2}]


def test_what_is_expected_in_a_pattern_is_said_in_its_signs() -> None:
    with pytest.raises(QueryError, match=re.escape("'$', '(', ')', '^', '{-', '|', PERMUTE")):
        parse("MATCH_RECOGNIZE (MEASURES x AS m PATTERN (a = b))")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=2), "'2' DAY"),
        (timedelta(hours=25), "'25' HOUR"),
        (timedelta(seconds=90), "'90' SECOND"),
        (timedelta(milliseconds=1500), "'1.5' SECOND"),
        (timedelta(microseconds=1), "'0.000001' SECOND"),
    ],
)
def test_lengths_of_time_are_written_as_sql_writes_them(length: timedelta, text: str) -> None:
    assert interval_text(length) == f"INTERVAL {text}"
