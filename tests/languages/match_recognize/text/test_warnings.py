"""What is searched in Python says so before the run, and what is compiled does not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus.languages.match_recognize.explaining.costs import SEARCHED

SCHEMA = pa.schema([("ts", pa.int64()), ("x", pa.int64()), ("y", pa.string())])


def compiled(condition: str, schema: pa.Schema | None) -> cereus.Query:
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS m PATTERN (a+ b) DEFINE b AS {condition})"
    return cereus.compile(text, dialect="match_recognize", schema=schema)


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize(
    "condition",
    [
        "string_agg(a.y, ',') >= 'p'",
        "array_agg(a.x) IS NULL",
        "array_agg(CLASSIFIER())[1] = 'A'",
        "max(lower(CLASSIFIER())) = 'a'",
        "sum(a.x + MATCH_NUMBER()) > 3",
    ],
)
def test_what_is_searched_in_python_says_so(condition: str, schema: pa.Schema | None) -> None:
    query = compiled(condition, schema)
    assert query.warnings == [SEARCHED]
    assert SEARCHED in " ".join(query.explain().split())


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize(
    "condition",
    [
        "x > 2 * sum(a.x * a.ts) / sum(a.x)",
        "max_by(a.y, a.x) = 'p'",
        "min(a.y) = 'p'",
        "arbitrary(a.y) = 'q'",
        "x > LAST(a.x, 500)",
        "x > FIRST(a.x, 500)",
        "count(a.y) > 3",
        "count_if(CLASSIFIER() = 'A') > 3",
        "max(CLASSIFIER()) = 'A'",
        "min(CLASSIFIER()) LIKE 'A%' AND x > 1",
        "sum(MATCH_NUMBER()) > 3",
        "array_agg(a.x)[2] = 2",
        "array_agg(a.x)[-3] = 2",
        "cardinality(array_agg(a.y)) > 2",
        "cardinality(array_distinct(array_agg(a.y))) > 2",
        "string_agg(a.y, ',') = 'p'",
        "array_join(array_agg(CLASSIFIER()), '') LIKE 'AA%'",
        "string_agg(a.y, ',') IS NULL OR string_agg(a.y, ',') IN ('p', 'q')",
        "sqrt(x + a.x) > 2",
    ],
)
def test_what_is_compiled_does_not(condition: str, schema: pa.Schema | None) -> None:
    assert compiled(condition, schema).warnings == []


@pytest.mark.parametrize(
    "condition",
    [
        "x > avg(a.x) + 2 * stddev(a.x)",
        "var_pop(a.x) < 3",
        "percentile(a.x, 0.5) > 1",
        "x = avg(a.x)",
    ],
)
def test_what_every_start_may_wait_for_says_so(condition: str) -> None:
    (warning,) = compiled(condition, SCHEMA).warnings
    assert warning.startswith("a start may read all rows behind it: what B waits for")
    bounded = cereus.compile(
        f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS m PATTERN (a{{1,20}} b)
        DEFINE b AS {condition})""",
        dialect="match_recognize",
        schema=SCHEMA,
    )
    assert bounded.warnings == []


@pytest.mark.parametrize(
    ("partition", "pattern", "warned"),
    [("", "a b* c", True), ("PARTITION BY y", "a b* c", False), ("", "a b c", False)],
)
def test_a_key_that_is_compared_in_one_partition_says_so(
    partition: str, pattern: str, warned: bool
) -> None:
    text = f"""MATCH_RECOGNIZE ({partition} ORDER BY ts MEASURES 1 AS m PATTERN ({pattern})
        DEFINE b AS y != a.y OR x < a.x, c AS y = a.y AND x > a.x)"""
    query = cereus.compile(text, dialect="match_recognize", schema=SCHEMA)
    assert any("PARTITION BY y is faster" in each for each in query.warnings) == warned


@pytest.mark.parametrize("condition", ["y != a.y", "NOT (y = a.y)", "y = b.y"])
def test_what_wants_no_equal_rows_needs_no_partition(condition: str) -> None:
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS m PATTERN (a b+) DEFINE b AS {condition})"
    warnings = cereus.compile(text, dialect="match_recognize", schema=SCHEMA).warnings
    assert not any("PARTITION BY" in each for each in warnings)


@pytest.mark.parametrize(("other", "warned"), [("y = 'q'", False), ("x > 3", True)])
def test_alternatives_that_are_added_up_say_so_unless_rows_tell_them_apart(
    other: str, warned: bool
) -> None:
    text = f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS m PATTERN ((a | b)+ c)
        DEFINE a AS y = 'p', b AS {other}, c AS sum(a.x) > sum(b.x))"""
    query = cereus.compile(text, dialect="match_recognize", schema=SCHEMA)
    assert any("runs may multiply" in each for each in query.warnings) == warned


def test_the_columns_decide_where_the_text_does_not() -> None:
    query = compiled("x + length(a.y || y) > 3", SCHEMA)
    assert query.warnings == [SEARCHED]
