"""Texts that Parquet files store as dictionaries are read as such where they are only tested or
keys: the matches are those of a table with plain texts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.sources import source
from cereus.sources.reading.columnar import CODED
from tests.volume import volume

STREAM = cereus.Stream(type="type", time="t", unit="s")


def events(draw: Random, size: int, first: int = 0) -> pa.Table:
    """Texts with few values and with many, with NULLs and empty ones, and inside structs."""
    few, many = ["x", "", "yy", None], [f"word {n}" for n in range(10_000)]
    deep = [{"s": draw.choice(few), "n": draw.randrange(3)} for _ in range(size)]
    return pa.table(
        {
            "type": pa.array(draw.choices(["A", "B", "C", None], [4, 4, 2, 1], k=size)),
            "t": pa.array(range(first, first + size), pa.int64()),
            "s": pa.array(draw.choices(few, k=size)),
            "u": pa.array(draw.choices(["p", "q"], k=size)),
            "w": pa.array(draw.choices(many, k=size)),
            "deep": pa.array(deep, pa.struct({"s": pa.string(), "n": pa.int64()})),
        }
    )


def read_types(query: cereus.Query, path: Any) -> dict[str, set[pa.DataType]]:
    """The types in which columns come from files."""
    run = query._start(source(path, query.stream), None, 1)
    types: dict[str, set[pa.DataType]] = {}
    for _, batch in run.work.batches():
        for field in batch.schema:
            types.setdefault(field.name, set()).add(field.type)
    return types


def test_what_is_only_tested_or_a_key_is_read_as_a_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(events(Random(1), 5_000), path, row_group_size=1_000)
    text = "SELECT a[u] WHERE A AS a ; B AS b FILTER a[w = 'word 1'] AND b[u = 'p'] PARTITION BY s"
    types = read_types(cereus.compile(text, stream=STREAM), str(path))
    plain = {pa.string()}
    assert types["type"] == types["s"] == {CODED}
    assert types["u"] == plain, "it is shown"
    assert types["w"] == plain, "it has many values, and is no dictionary in the file"


def test_what_is_compared_or_filters_the_stream_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(events(Random(1), 500), path)
    stream = cereus.Stream(type="type", time="t", unit="s", where="u != 'q'")
    text = "SELECT * WHERE A AS a ; B AS b FILTER a.s != b.s AND a[deep.s = 'x'] WITHIN 9 seconds"
    types = read_types(cereus.compile(text, stream=stream), str(path))
    assert types["s"] == types["u"] == {pa.string()}
    assert types["type"] == {CODED}
    assert not any(pa.types.is_dictionary(kind) for kind in types["deep"])


QUERIES = [
    "SELECT * WHERE A ; B WITHIN 3 seconds",
    "SELECT * WHERE A ; B PARTITION BY s WITHIN 9 seconds",
    "SELECT * WHERE A ; B+ ; C PARTITION BY s, u WITHIN 20 seconds",
    "SELECT * WHERE A AS a ; B AS b FILTER a[s = 'x'] AND b[u LIKE 'p%'] WITHIN 9 seconds",
    "SELECT * WHERE A AS a ; B AS b FILTER a[s IS NULL] AND b[length(u) = 1] WITHIN 9 seconds",
    "SELECT * WHERE A AS a ; B AS b FILTER a[w = u] WITHIN 9 seconds",
    "SELECT * WHERE A AS a ; B AS b FILTER a.s = b.s WITHIN 9 seconds",
    "SELECT a[s, u], b WHERE A AS a ; B AS b FILTER a[s = ''] AND b[u = 'q'] WITHIN 9 seconds",
    "SELECT NEXT * WHERE A ; B : C PARTITION BY u",
    "SELECT COUNT(*) WHERE A ; B PARTITION BY s",
    "SELECT * WHERE A AS a ; B AS b FILTER a[deep.s = 'x'] PARTITION BY deep.n WITHIN 9 seconds",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", QUERIES)
def test_matches_are_those_of_plain_texts(text: str, tmp_path: Path) -> None:
    coded = 0
    for seed in range(volume(4, 40)):
        draw, folder = Random(seed), tmp_path / str(seed)
        size = draw.randint(0, 120)
        tables = [events(draw, size, size * n) for n in range(draw.randint(1, 3))]
        if draw.random() < 0.3:  # another file has the texts of a column as a dictionary, or plain
            kind = draw.choice([CODED, pa.large_string()])
            place = tables[-1].schema.get_field_index("s")
            column = tables[-1].column("s").cast(pa.string())
            column = column.dictionary_encode() if kind == CODED else column.cast(kind)
            tables[-1] = tables[-1].set_column(place, "s", column)
        folder.mkdir()
        for number, table in enumerate(tables):
            options = {"row_group_size": draw.randint(1, 60), "use_dictionary": draw.random() < 0.8}
            pq.write_table(table, folder / f"{number}.parquet", **options)
        query = cereus.compile(text, stream=STREAM)
        whole = pa.concat_tables([t.cast(tables[0].schema) for t in tables])
        coded += read_types(query, str(folder)).get("type") == {CODED}
        expected = query.run(whole, threads=1)
        for threads in (1, 2):
            run = query._start(source(str(folder), STREAM), None, threads)
            run.always, run.least = True, 7
            found = pa.Table.from_batches(list(run.batches()), run.result_schema)
            assert found.schema.names == expected.table.schema.names
            assert sorted(map(str, found.to_pylist())) == sorted(
                map(str, expected.table.to_pylist())
            )
    assert coded


def test_directories_tell_columns_beside_coded_ones(tmp_path: Path) -> None:
    for day in (1, 2):
        folder = tmp_path / f"day={day}"
        folder.mkdir()
        pq.write_table(events(Random(day), 300, 300 * day), folder / "events.parquet")
    query = cereus.compile(
        "SELECT * WHERE A AS a ; B AS b FILTER b[day = 2] PARTITION BY s WITHIN 5 seconds",
        stream=STREAM,
    )
    assert read_types(query, str(tmp_path))["s"] == {CODED}
    table = pa.concat_tables([
        events(Random(day), 300, 300 * day).append_column("day", pa.array([day] * 300))
        for day in (1, 2)
    ])  # fmt: skip
    assert list(query.run(str(tmp_path))) == list(query.run(table))
    assert query.run(str(tmp_path)).table.schema.field("s").type == pa.string()
