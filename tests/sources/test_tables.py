"""Events that cannot be read are an error of Cereus, whatever they come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus import Stream
from cereus.errors import DataError

TEXT = "SELECT * FROM S WHERE A ; B"
EVENTS = pa.table({"type": ["A", "B"], "ts": [1, 2], "n": [1, 2]})
OTHER = EVENTS.set_column(2, "n", pa.array(["a", "b"]))


@pytest.mark.parametrize(
    "data",
    [
        [{"type": "A", "ts": 1}, {"type": "B", "ts": "x"}],
        {"type": ["A", "B"], "ts": [1]},
        pa.array([1, 2]),
    ],
)
def test_what_is_not_a_table_is_said_to_be_unreadable(data: Any) -> None:
    with pytest.raises(DataError, match="cannot read the events"):
        cereus.compile(TEXT, stream=Stream(type="type", time="ts")).run(data)


@pytest.mark.parametrize(
    ("time", "parts", "said"),
    [
        ("tz", {"S": EVENTS}, "the time column 'tz' is not in the events"),
        ("ts", {"S": EVENTS, "R": OTHER}, "the streams cannot be put together"),
    ],
)
def test_streams_that_do_not_fit_together(time: str, parts: dict[str, pa.Table], said: str) -> None:
    query = cereus.compile(TEXT, stream=Stream(type="type", time=time, stream="s"))
    with pytest.raises(DataError, match=said):
        query.run(parts)


def test_a_pushed_event_of_another_type_is_refused() -> None:
    recognizer = cereus.compile(TEXT, stream=Stream(type="type", time="ts")).recognizer()
    recognizer.push([{"type": "A", "ts": 1}])
    with pytest.raises(DataError, match="cannot read the events"):
        recognizer.push([{"type": "B", "ts": "x"}])


CSV = "type,ts,n\nA,1,1\nB,2,2\n"
STREAM = Stream(type="type", time="ts")


def test_a_directory_is_read_without_what_is_no_events(tmp_path: Path) -> None:
    """What Spark writes beside the rows, and parts without any."""
    inside = tmp_path / "day=1"
    inside.mkdir()
    (inside / "part-1.csv").write_text(CSV)
    for name in ("_SUCCESS", ".part-1.csv.crc", "part-0.csv", "_old.json"):
        (inside / name).write_text("")
    (inside / "readme.txt").write_text("not events")
    assert len(cereus.compile(TEXT, stream=STREAM).run(tmp_path)) == 1


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.csv": CSV, "b.json": '{"type": "A"}'}, "different formats: csv, json"),
        ({"a.csv": ""}, "'.*a.csv' is empty"),
        ({"a.txt": CSV}, "there are no events in the directory"),
        ({}, "there are no events in the directory"),
    ],
)
def test_a_directory_that_cannot_be_read(files: dict[str, str], said: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=said):
        cereus.compile(TEXT, stream=STREAM).run(tmp_path)
    if len(files) > 1:
        with pytest.raises(DataError, match=said):
            cereus.compile(TEXT, stream=STREAM).run([tmp_path / name for name in files])


def test_a_lazy_frame_of_polars_is_computed() -> None:
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"x": [1, 2, 3]}).filter(polars.col("x") > 1)
    clause = "MATCH_RECOGNIZE (MEASURES sum(x) AS total PATTERN (a+))"
    assert list(cereus.compile(clause, dialect="match_recognize").run(lazy)) == [{"total": 5}]


@pytest.mark.parametrize(
    "events",
    [
        {1: 2},
        {1: [2]},
        [{1: 2}],
        {("a",): [1]},
        [{"type": "\ud800"}],
        {"type": ["\ud800"]},
        [{"type": "A", "x": 10**5000}],
    ],
)
def test_what_arrow_cannot_hold_is_no_table(events: Any) -> None:
    with pytest.raises(DataError, match="cannot read the events"):
        cereus.compile("SELECT * WHERE A").run(events)


def test_a_table_of_any_library_or_a_file_stands_for_its_schema(tmp_path: Path) -> None:
    table = pa.table({"type": ["A"], "price": [1.5]})
    pq.write_table(table, tmp_path / "a.parquet")
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    every = (
        *(table, table.schema, table.to_batches()[0], table.to_pandas()),
        *(frame, frame.lazy(), frame.schema, duckdb.from_arrow(table)),
        *(str(tmp_path / "a.parquet"), cereus.Files(tmp_path / "a.parquet")),
    )
    for schema in every:
        cereus.compile("SELECT * WHERE A FILTER A[price > 1]", schema=schema)
        with pytest.raises(cereus.CereusError, match="unknown attribute 'prize'"):
            cereus.compile("SELECT * WHERE A FILTER A[prize > 1]", schema=schema)
