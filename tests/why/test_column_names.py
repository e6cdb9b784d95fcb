"""Types and variables may be called like a column of the results: `start` and `end` are common."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from cereus import Stream

EVENTS = pa.table(
    {
        "type": ["start", "positions", "end"],
        "time": pa.array([0, 1, 2], pa.timestamp("s")),
        "v": [1, 2, 3],
        "key": [7, 7, 7],
    }
)
TIMED = Stream(type="type", time="time")
ASKED = [
    ("ceql", "SELECT * WHERE start AS s ; end AS e FILTER e[v > 9]", "e.v is 3, off by 6"),
    ("ceql", "SELECT * WHERE start ; end FILTER end[v > 9]", "end.v is 3, off by 6"),
    ("ceql", "SELECT * WHERE start ; end FILTER start.v > end.v",
     "start.v is 1 and end.v is 3, off by 2"),
    ("ceql", "SELECT e WHERE start AS key ; end AS e FILTER key.v > e.v PARTITION BY key",
     "key.v is 1 and e.v is 3, off by 2"),
    ("sase", "PATTERN SEQ(start start, end e) WHERE start.v > e.v RETURN e.v AS OUT(v)",
     "start.v is 1 and e.v is 3, off by 2"),
    ("sremo", "any({start:} -> start, {end: v > 9})", "v is 3, off by 6"),
    ("algebra", "start ; end(v > 9)", "v is 3, off by 6"),
    ("match_recognize",
     'MATCH_RECOGNIZE (PARTITION BY key ORDER BY time MEASURES 1 AS p PATTERN ("key" x "end") '
     "DEFINE \"key\" AS type = 'start', \"end\" AS v < \"key\".v)",
     "end.v is 3 and key.v is 1, off by 2"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "text", "by"), ASKED)
def test_names_of_result_columns_may_be_types_and_variables(
    dialect: str, text: str, by: str
) -> None:
    query = cereus.compile(text, dialect=dialect, stream=TIMED)
    answer = query.why(EVENTS)
    assert [rule.note for rule in answer.rules] == [None] * len(answer.rules)
    (miss,) = answer.misses
    assert (str(miss.kind), miss.by) == ("condition", by)
    (excluded,) = query.why_not(EVENTS, miss.rows).excluded
    assert excluded.by == by


def test_a_variable_of_rows_may_be_called_positions() -> None:
    clause = (
        'MATCH_RECOGNIZE (ORDER BY time MEASURES 1 AS p PATTERN (s "positions" e) '
        "DEFINE s AS type = 'start', \"positions\" AS v > s.v, e AS v > 9)"
    )
    query = cereus.compile(clause, dialect="match_recognize", stream=TIMED)
    answer = query.why(EVENTS)
    assert [step.reached for step in answer.steps] == [1, 1, 0]
    assert [miss.by for miss in answer.misses] == ["E.v is 3, off by 6"]


def test_variables_and_keys_may_be_called_like_the_columns_that_why_makes() -> None:
    events = EVENTS.append_column("rows of s", EVENTS["key"])
    text = """SELECT s, "rows of e" WHERE start AS s ; end AS "rows of e" FILTER s.v > 5
        PARTITION BY "rows of s\""""
    query = cereus.compile(text, stream=TIMED)
    assert query.variables == ("s", "rows of e")
    (rule, *_) = query.why(events).rules
    assert (rule.note, rule.more) == (None, 1)
