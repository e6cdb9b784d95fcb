"""Whatever is wrong with events is an error of Cereus, short, and raised as early as can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import cereus
from cereus import Stream
from cereus.errors import CereusError, DataError

QUERY = "SELECT a, b WHERE A AS a ; B AS b"
EVENTS = pa.table({"type": ["A", "B"], "ts": [1, 2], "n": [1, 2]})


def short(error: pytest.ExceptionInfo[CereusError]) -> bool:
    return len(str(error.value)) < 400 and "Traceback" not in str(error.value)


def test_files_of_different_types(tmp_path: Path) -> None:
    """They are read where there is a type for both, and refused, with both files, where not."""
    query = cereus.compile(QUERY, stream=Stream(time="ts"))
    pq.write_table(EVENTS, tmp_path / "1.parquet")
    pq.write_table(EVENTS.set_column(2, "n", pa.array([1.5, 2.5])), tmp_path / "2.parquet")
    matches = query.run([tmp_path / "1.parquet", tmp_path / "2.parquet"], sort=True)
    assert matches.events().column("n").type == pa.float64()
    pq.write_table(EVENTS.set_column(2, "n", pa.array(["x", "y"])), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"1\.parquet.*int64, but string in.*2\.parquet") as raised:
        query.run(tmp_path)
    assert short(raised)
    types = {"n": "string"}
    assert len(query.run(cereus.Files(tmp_path, types=types), sort=True)) == 4


def test_events_of_files_with_different_columns(tmp_path: Path) -> None:
    pq.write_table(EVENTS.slice(0, 1), tmp_path / "1.parquet")
    later = EVENTS.slice(1).append_column("more", pa.array(["x"]))
    pq.write_table(later, tmp_path / "2.parquet")
    matches = cereus.compile(QUERY, stream=Stream(time="ts")).run(tmp_path)
    assert matches.events().column("more").to_pylist() == [None, "x"]


def test_two_columns_of_one_name_in_pandas() -> None:
    frame = pd.DataFrame([["A", 1, 2]], columns=["type", "ts", "ts"])
    with pytest.raises(DataError, match="the events have two columns 'ts'"):
        cereus.compile(QUERY).run(frame)


def test_an_event_is_pushed_as_a_dict() -> None:
    recognizer = cereus.compile(QUERY, stream=Stream(time="ts")).recognizer(keep_events=True)
    assert len(recognizer.push({"type": "A", "ts": 1, "tags": None})) == 0
    assert len(recognizer.push({"type": "B", "ts": 2, "tags": None})) == 1


def test_a_dict_of_values_and_columns_is_refused() -> None:
    with pytest.raises(DataError, match="'ts' is one value, where others are columns"):
        cereus.compile(QUERY).run({"type": ["A", "B"], "ts": 1})


@pytest.mark.parametrize(
    "times", [["1", "2"], [True, False], [[1], [2]]], ids=["text", "boolean", "list"]
)
def test_a_time_that_is_none_is_refused_with_the_schema(times: list[Any]) -> None:
    events = EVENTS.set_column(1, "ts", pa.array(times))
    with pytest.raises(DataError, match=r"the time column 'ts' has the type .*, which is no time"):
        cereus.compile(QUERY, stream=Stream(time="ts"), schema=events.schema)


# ---------------------------------------------------------------- types of Arrow


def run_end_encoded(values: list[Any]) -> pa.Array:
    return pc.run_end_encode(pa.array(values))


ALIKE: dict[str, Any] = {
    "string_view": pa.array(["x", "y"], pa.string_view()),
    "run_end_encoded": run_end_encoded(["x", "y"]),
    "dictionary_of_views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1], pa.int8()), pa.array(["x", "y"], pa.string_view())
    ),
    "large_string": pa.array(["x", "y"], pa.large_string()),
}


@pytest.mark.parametrize("name", ALIKE)
def test_other_layouts_of_texts_are_read_as_texts(name: str) -> None:
    events = EVENTS.set_column(2, "n", ALIKE[name])
    text = f"{QUERY} FILTER a[n = 'x'] AND a.n != b.n"
    for data in (events, events.to_batches()[0]):
        assert len(cereus.compile(text, stream=Stream(time="ts")).run(data)) == 1
    recognizer = cereus.compile(f"{text} PARTITION BY ts").recognizer()
    assert len(recognizer.push(events)) == 0


def test_lists_of_views_are_lists() -> None:
    events = EVENTS.set_column(2, "n", pa.array([[1], [2, 3]], pa.list_view(pa.int64())))
    matches = cereus.compile(QUERY).run(events)
    assert matches.events().column("n").to_pylist() == [[1], [2, 3]]


UNION = pa.UnionArray.from_dense(
    pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]
)
USES: dict[str, tuple[str, dict[str, str]]] = {
    "condition": (f"{QUERY} FILTER a[n = 'x']", {}),
    "time": (QUERY, {"time": "n"}),
    "key": (f"{QUERY} PARTITION BY n", {}),
    "between": (f"{QUERY} FILTER a.n < b.n", {}),
    "type": (QUERY, {"type": "n"}),
}


@pytest.mark.parametrize("use", USES)
def test_a_type_without_support_is_named_where_it_is_used(use: str) -> None:
    """And does no harm where it is not."""
    events = EVENTS.set_column(2, "n", UNION)
    assert len(cereus.compile(QUERY, stream=Stream(time="ts")).run(events)) == 1
    text, columns = USES[use]
    with pytest.raises(CereusError, match="dense_union") as raised:
        cereus.compile(text, stream=Stream(**columns)).run(events)
    assert short(raised)


def test_times_in_an_unknown_zone_are_those_of_utc() -> None:
    """They are stored so; only how they are shown is not known."""
    events = EVENTS.set_column(2, "n", pa.array([1, 2], pa.timestamp("us", "Mars/Olympus")))
    text = f"{QUERY} FILTER a.n < b.n AND a[n < TIMESTAMP '2020-01-01']"
    (match,) = cereus.compile(text, stream=Stream(time="n")).run(events)
    assert str(match["start_time"]) == "1970-01-01 00:00:00.000001+00:00"


def test_a_csv_file_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("type,ts\nA,1\nB,2\n", encoding="utf-16")
    with pytest.raises(DataError, match="its header is not UTF-8") as raised:
        cereus.compile(QUERY).run(path)
    assert short(raised)


@pytest.mark.parametrize("dialect_and_text", [("ceql", QUERY), ("par", "repeat (A(n > 0)[X] ; B)")])
def test_why_refuses_two_columns_of_one_name_as_run_does(dialect_and_text: tuple[str, str]) -> None:
    dialect, text = dialect_and_text
    query = cereus.compile(text, dialect=dialect)
    twice = pa.Table.from_arrays([*EVENTS.columns, EVENTS["n"]], [*EVENTS.column_names, "n"])
    asked = (query.run, query.why, lambda table: query.why_not(table, [0, 1]))
    for ask in asked:
        with pytest.raises(DataError, match="two columns 'n'"):
            ask(twice)


def test_rows_without_columns_are_no_events() -> None:
    text = "MATCH_RECOGNIZE (MEASURES count(*) AS n PATTERN (a b))"
    query = cereus.compile(text, dialect="match_recognize", stream=Stream(type=None))
    with pytest.raises(CereusError):
        query.why_not(EVENTS.select([]), [0, 1])


@pytest.mark.parametrize(
    ("dialect", "text"),
    [("ceql", f"{QUERY} WITHIN 5 seconds"), ("sremo", "{A:} . {B:} WITHIN 5 seconds")],
)
def test_a_column_without_a_name_is_looked_for_as_any_other(dialect: str, text: str) -> None:
    query = cereus.compile(text, dialect=dialect, stream=Stream(time="", unit="s"))
    with pytest.raises(CereusError, match="the time column '' is not in the events"):
        query.run(EVENTS)
    assert len(query.run(EVENTS.rename_columns(["type", "", "n"]))) == 1
