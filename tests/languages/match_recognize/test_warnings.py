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
        "string_agg(a.y, ',') = 'p'",
        "array_agg(a.x)[1] = 2",
        "max(CLASSIFIER()) = 'A'",
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
        "x > avg(a.x) + 2 * stddev(a.x)",
        "var_pop(a.x) < 3",
        "max_by(a.y, a.x) = 'p'",
        "min(a.y) = 'p'",
        "arbitrary(a.y) = 'q'",
        "x > LAST(a.x, 500)",
        "x > FIRST(a.x, 500)",
        "percentile(a.x, 0.5) > 1",
        "count(a.y) > 3",
        "count_if(CLASSIFIER() = 'A') > 3",
        "sqrt(x + a.x) > 2",
    ],
)
def test_what_is_compiled_does_not(condition: str, schema: pa.Schema | None) -> None:
    assert compiled(condition, schema).warnings == []


def test_the_columns_decide_where_the_text_does_not() -> None:
    query = compiled("x + length(a.y || y) > 3", SCHEMA)
    assert query.warnings == [SEARCHED]
