"""What is given in the wrong place is an error of Cereus that says what is needed, or it works."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cereus
from cereus import Stream
from cereus.errors import CereusError, DataError, QuerySyntaxError, RefusedError, SnapshotError
from cereus.show import timeline
from cereus.spark import match, merge_into

TEXT = "SELECT * FROM S WHERE A ; B"
EVENTS = pa.table({"type": ["A", "B", "A", "B"], "k": [1, 1, 1, 1]})
DIALECTS = {"ceql": TEXT, "sremo": "{A:} . {B:}", "par": "A ; B[X]", "algebra": "A ; B"}


@pytest.fixture
def query() -> cereus.Query:
    return cereus.compile(TEXT)


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", [None, 3, b"A", []])
def test_a_query_is_a_text(text: Any, dialect: str) -> None:
    with pytest.raises(QuerySyntaxError, match="a text is needed, not a"):
        cereus.compile(text, dialect=dialect)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stream": "type"}, "a Stream is needed, not a str"),
        ({"limits": 3}, "a Limits is needed, not a int"),
        ({"schema": 3}, "a schema is needed, not a int"),
        ({"schema": {}}, "column 'type' is not in the events"),
        ({"dialect": 3}, "unknown dialect 3"),
        ({"dialect": ["ceql"]}, r"unknown dialect \['ceql'\]"),
    ],
)
def test_options_are_of_their_kind(options: Any, said: str) -> None:
    with pytest.raises(CereusError, match=said):
        cereus.compile(TEXT, **options)


SASE = "PATTERN SEQ(A a, B b)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: cereus.compile("A ; B", dialect="algebra", values="no"), "values= is True or"),
        (lambda: cereus.compile("A ; B", dialect="algebra", merge_ties=1), "merge_ties= is True"),
        (lambda: cereus.compile(SASE, dialect="sase", output=True), "output= is a text or a"),
        (lambda: cereus.compile(SASE, dialect="sase", output=["x"]), "output= is a text or a"),
        (lambda: cereus.compile(TEXT).recognizer(keep_events="yes"), "keep_events= is True or"),
        (lambda: cereus.compile(TEXT).recognizer(forget_idle="no"), "forget_idle= is True or"),
        (lambda: cereus.compile(TEXT).run(EVENTS, flat="no"), "flat= is True or False, not a str"),
        (lambda: cereus.Limits(shed="no"), "shed= is True or False, not a str"),
        (lambda: cereus.Files("a.csv", multiline="no"), "multiline= is True or False"),
        (lambda: cereus.Files("a.csv", infer=0), "infer= is True or False, not a int"),
        (lambda: cereus.Files("a.csv", header=0), "header= is True, or a list"),
        (lambda: timeline(cereus.compile(TEXT).run(EVENTS), aligned="no"), "aligned= is True or"),
        (lambda: merge_into("t", identity=["k"], update="no"), "update= is True or False"),
        *(
            (lambda name=name: match(None, None, **{name: "yes"}), f"{name}= is True or False")
            for name in ("eager", "events", "flat", "late", "push_down")
        ),
    ],
)
def test_an_option_of_another_kind_is_refused(given: Callable[[], Any], said: str) -> None:
    """A text such as "no" would count as true."""
    with pytest.raises(CereusError, match=said):
        given()


def test_a_rule_with_an_option_of_another_kind_is_refused() -> None:
    rule = {"name": "r", "language": "algebra", "text": "A ; B", "options": {"values": "no"}}
    rules = cereus.RuleRecognizer(stream=Stream(), schema=EVENTS.schema, rules=[rule])
    (change,) = rules.changes
    assert change.change == "refused"
    assert "values= is True or False, not a str" in str(change.error)


def test_what_numpy_says_is_true_is_true() -> None:
    query = cereus.compile("A ; B", dialect="algebra", values=np.bool_(True))
    assert query.run(EVENTS).table.num_rows == 2


@pytest.mark.parametrize(
    "columns", [{"time": 3}, {"keys": 3}, {"keys": ["a", None]}, {"type": b"t"}, {"stream": 1}]
)
def test_columns_are_named_by_texts(columns: Any) -> None:
    with pytest.raises(CereusError, match="a column is named by a text, not by a"):
        Stream(**columns)


@pytest.mark.parametrize("limits", [{"nodes": "x"}, {"states": -1}, {"configurations": None}])
def test_limits_are_whole_numbers(limits: Any) -> None:
    (name,) = limits
    with pytest.raises(CereusError, match=f"the limit {name} is"):
        cereus.Limits(**limits)


@pytest.mark.parametrize("schema", [EVENTS, {"type": pa.string()}, [("type", pa.string())]])
def test_what_can_stand_for_a_schema_is_one(schema: Any) -> None:
    assert "S" in cereus.compile(TEXT, schema=schema).explain(schema)


@pytest.mark.parametrize("texts", [TEXT, None, 3, []])
def test_several_queries_are_several(texts: Any) -> None:
    with pytest.raises(CereusError, match=r"several queries|no query"):
        cereus.compile_many(texts)


@pytest.mark.parametrize(
    "data",
    [[1, 2], [{"type": "A"}, 3], None, 3, pd.Series([1, 2]), pl.Series([1, 2]), np.array([1, 2])],
)
def test_what_is_not_a_table_of_events(data: Any, query: cereus.Query) -> None:
    for read in (query.run, query.count, query.recognizer().push):
        with pytest.raises(DataError, match="cannot read the events"):
            read(data)


@pytest.mark.parametrize("snapshot", [None, "x", 3])
def test_a_snapshot_is_bytes(snapshot: Any, query: cereus.Query) -> None:
    with pytest.raises(SnapshotError, match="a snapshot is bytes"):
        query.restore(snapshot)


def test_no_events_yet_are_no_matches(query: cereus.Query) -> None:
    recognizer = query.recognizer()
    assert len(recognizer.push([])) == 0
    assert len(recognizer.push(EVENTS)) == 3


def test_a_null_where_the_first_batch_declared_none_is_refused(query: cereus.Query) -> None:
    schema = pa.schema([pa.field("type", pa.string()), pa.field("x", pa.int64(), nullable=False)])
    recognizer = query.recognizer()
    recognizer.push(pa.table({"type": ["A"], "x": [1]}, schema))
    with pytest.raises(DataError, match=r"types of the first one: .*'x' with null values"):
        recognizer.push(pa.table({"type": ["B"], "x": pa.array([None], pa.int64())}))


def test_a_slice_of_matches_is_matches(query: cereus.Query) -> None:
    matches = query.run(EVENTS)
    assert list(matches[0:2]) == list(matches)[0:2]
    assert list(matches[::-1]) == list(matches)[::-1]
    assert matches[1:2].events().column("match").to_pylist() == [0, 0]
    assert matches[np.int64(1)] == matches[1]
    wrong: Any = "end"
    with pytest.raises(TypeError):
        matches[wrong]


def test_a_finished_recognizer_comes_back_finished(query: cereus.Query) -> None:
    recognizer = query.recognizer(keep_events=True)
    recognizer.push(EVENTS)
    assert len(query.restore(recognizer.snapshot()).push(EVENTS)) > 0
    recognizer.finish()
    with pytest.raises(CereusError, match="finished"):
        query.restore(recognizer.snapshot()).push(EVENTS)


# ---------------------------------------------------------------- names of columns


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ["type", "k"])
def test_two_columns_of_one_name_are_refused(name: str, dialect: str) -> None:
    repeated = pa.Table.from_arrays(
        [*EVENTS.columns, EVENTS.column(name)], names=[*EVENTS.column_names, name]
    )
    said = f"the events have two columns '{name}'"
    query = cereus.compile(DIALECTS[dialect], dialect=dialect)
    for act in (query.run, query.count, query.recognizer().push):
        with pytest.raises(DataError, match=said):
            act(repeated)
    with pytest.raises(DataError, match=said):
        cereus.compile(DIALECTS[dialect], dialect=dialect, schema=repeated.schema)


def test_two_columns_of_times_are_not_sorted_by() -> None:
    times = pa.array([3, 2, 1, 0], pa.timestamp("s"))
    repeated = EVENTS.append_column("ts", times).append_column("ts", times)
    query = cereus.compile(TEXT, stream=Stream(time="ts"))
    with pytest.raises(DataError, match="the events have two columns 'ts'"):
        query.run(repeated, sort=True)


@pytest.mark.parametrize("variable", ["start", "end", "end_time", "positions", "k"])
def test_a_variable_is_not_called_like_a_column_of_the_result(variable: str) -> None:
    text = f"SELECT {variable} FROM S WHERE A AS {variable} ; B PARTITION BY [k]"
    with pytest.raises(RefusedError, match=f"two columns '{variable}'"):
        cereus.compile(text, stream=Stream(time="t"))
    if not variable.endswith("_time"):
        return
    assert len(cereus.compile(text).run(EVENTS)) == 3  # without times there is no such column


@pytest.mark.parametrize("count", ["*", "COUNT(*)"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_is_not_called_like_a_column_of_the_result(dialect: str, count: str) -> None:
    text = DIALECTS[dialect].replace("*", count)
    stream = Stream(time="k")
    for name in cereus.compile(text, dialect=dialect, stream=stream).run(EVENTS[:0]).table.schema:
        with pytest.raises(RefusedError, match=f"the key column '{name.name}'"):
            cereus.compile(text, dialect=dialect, stream=Stream(time="k", keys=name.name))


TIMED = cereus.Stream(time="t", unit="s")


@pytest.mark.parametrize("time", ["x", None, True, 2**70, float("nan")])
@pytest.mark.parametrize("begun", [True, False])
def test_a_promise_is_a_time(time: Any, begun: bool) -> None:
    recognizer = cereus.compile(TEXT, stream=TIMED).recognizer()
    if begun:
        recognizer.push([{"type": "A", "t": 1}])
    with pytest.raises(DataError, match=r"advance\(\)"):
        recognizer.advance(time)


@pytest.mark.parametrize(
    "kind", [*(pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC"))]
)
@pytest.mark.parametrize("first", [True, False])
def test_a_promise_is_a_datetime_where_times_are(kind: pa.DataType, first: bool) -> None:
    text = "PATTERN SEQ(A a, ~B b) WITHIN 10 seconds"
    recognizer = cereus.compile(text, dialect="sase", stream=Stream(time="t")).recognizer()
    begin = datetime(2025, 3, 3)
    if first:
        recognizer.advance(begin)
    recognizer.push(pa.table({"type": ["A"], "t": pa.array([begin], kind)}))
    assert len(recognizer.advance(begin + timedelta(seconds=10))) == 0
    oslo = timezone(timedelta(hours=1))
    assert len(recognizer.advance(datetime(2025, 3, 3, 1, 0, 11, tzinfo=oslo))) == 1
    with pytest.raises(DataError, match="before what advance"):
        recognizer.push(pa.table({"type": ["A"], "t": pa.array([begin], kind)}))


@pytest.mark.parametrize("begun", [True, False])
def test_a_datetime_is_no_promise_of_numbers(begun: bool) -> None:
    recognizer = cereus.compile(TEXT, stream=TIMED).recognizer()
    with pytest.raises(DataError, match=r"advance\(\) takes a number here"):
        for promise in (begun, not begun):
            if promise:
                recognizer.advance(datetime(2026, 1, 1))
            else:
                recognizer.push([{"type": "A", "t": 1}])


def test_a_promise_may_come_before_the_first_event() -> None:
    text = "PATTERN SEQ(A a, ~B b) WITHIN 10 seconds"
    recognizer = cereus.compile(text, dialect="sase", stream=TIMED).recognizer()
    assert len(recognizer.advance(5)) == 0
    with pytest.raises(DataError, match="before what advance"):
        recognizer.push([{"type": "A", "t": 4}])
    recognizer.push([{"type": "A", "t": 5}])
    assert len(recognizer.advance(16)) == 1


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "make",
    [
        lambda: cereus.compile(TEXT + " WITHIN 5 seconds", stream=Stream(time="t", keys="k")),
        lambda: cereus.compile(TEXT + " WITHIN 5 [t]"),
        lambda: cereus.compile("SELECT * FROM S WHERE (A AS a ; B AS b) FILTER a.t < b.t"),
        lambda: cereus.compile("SELECT * FROM S WHERE (A AS a ; B) FILTER a[t > 3]"),
        lambda: cereus.compile("{A:} . {B:}", dialect="sremo", stream=Stream(time="t")),
        lambda: cereus.compile("A ; B[X]", dialect="par", stream=Stream(time="t", keys="k")),
        lambda: cereus.compile("(A ; B)_5", dialect="algebra", stream=Stream(time="t")),
        lambda: cereus.compile("(A ; B)_5s", dialect="algebra", stream=Stream(time="t", keys="k")),
    ],
)
def test_a_file_with_nothing_but_a_header_has_no_matches(
    make: Callable[[], cereus.Query], tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text("type,t,k\n")
    assert len(make().run(tmp_path / "events.csv")) == 0
    assert make().count(tmp_path / "events.csv") == 0


def test_a_json_array_is_not_one_event_to_a_line(tmp_path: Path, query: cereus.Query) -> None:
    (tmp_path / "events.json").write_text('\n [\n{"type": "A"},\n{"type": "B"}]')
    with pytest.raises(DataError, match="one event to a line"):
        query.run(tmp_path / "events.json")


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_time_that_does_not_fit_is_said_to_be_too_large(dialect: str) -> None:
    times = pa.array([2**63 - 1, 2**63 + 5], pa.uint64())
    events = pa.table({"type": ["A", "B"], "t": times})
    query = cereus.compile(DIALECTS[dialect], dialect=dialect, stream=Stream(time="t"))
    with pytest.raises(DataError, match="is 9223372036854775813 in row 1, and must be below"):
        query.run(events)


def test_a_schema_is_written_as_types_by_name() -> None:
    columns = {"type": "string", "x": "int", "y": pa.float64()}
    cereus.compile("SELECT * WHERE A FILTER A[x > 1 AND y < 2]", schema=columns)
    with pytest.raises(CereusError, match="'z'"):
        cereus.compile("SELECT * WHERE A FILTER A[z > 1]", schema=columns)
    with pytest.raises(CereusError, match="unknown type 'itn'"):
        cereus.compile("SELECT * WHERE A", schema={"x": "itn"})


def test_an_index_with_a_name_is_a_column() -> None:
    frame = pd.DataFrame({"type": ["A", "B"]}, index=pd.to_datetime(["2025-01-01", "2025-01-02"]))
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 2 days", stream=Stream(time="ts"))
    assert len(query.run(frame.rename_axis("ts"))) == 1
    both = frame.rename_axis("ts").reset_index().set_index("ts", drop=False)
    assert len(query.run(both)) == 1
    with pytest.raises(CereusError, match="'ts' is not in the events"):
        query.run(frame)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cereus.ceql.event(5),
        lambda: cereus.ceql.event("A") >> "B",
        lambda: cereus.compile("SELECT * WHERE A FILTER A[x > :k]", params=[1]),
        lambda: cereus.Files(None),
        lambda: cereus.Files("a.csv", nulls=5),
        lambda: cereus.compile(TEXT).why_not(EVENTS, "0,1"),
        lambda: cereus.compile(TEXT).why_not(EVENTS, 3),
        lambda: cereus.compile(TEXT).run(EVENTS, progress="yes"),
    ],
)
def test_arguments_of_another_kind_are_errors_of_cereus(call: Any) -> None:
    with pytest.raises(CereusError) as raised:
        call()
    assert raised.value.hint is not None
