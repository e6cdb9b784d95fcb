"""Row groups of Parquet files that cannot matter are not read, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cereus
from cereus.languages.ceql.text import to_text
from cereus.sources import source
from tests.languages.ceql import strategies as ceql
from tests.volume import volume

STREAM = cereus.Stream(type="type", time="t", unit="s")
START = datetime(2025, 1, 1)
ROWS, GROUP = 1_000, 100


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten row groups; the first half has the types A and B, the second C and D."""
    draw = Random(3)
    table = pa.table(
        {
            "type": [draw.choice("AB" if n < ROWS // 2 else "CD") for n in range(ROWS)],
            "t": list(range(ROWS)),
            "x": [float(n % 7) for n in range(ROWS)],
            "at": [START + timedelta(hours=n) for n in range(ROWS)],
            "k": [draw.randrange(5) for _ in range(ROWS)],
        }
    )
    file = tmp_path_factory.mktemp("events") / "events.parquet"
    pq.write_table(table, file, row_group_size=GROUP)
    return file


def rows_read(query: cereus.Query, path: Path) -> int:
    run = query._start(source(str(path), query.stream), None, 1)
    return sum(batch.num_rows for _, batch in run.work.batches())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("pattern", "read"),
    [
        ("A ; B WITHIN 5 seconds", 500),
        ("C ; D PARTITION BY [k] WITHIN 5 seconds", 500),
        ("A AS a ; D AS d FILTER a[t >= 450] AND d[t < 510]", 200),
        ("A AS a ; B AS b FILTER a[at > '2025-01-10 00:00:00'] AND b[t < 300]", 500),
        ("A AS a ; B AS b FILTER a[x > 100] AND b[k = 9]", 0),
        ("A ; C WITHIN 5 seconds", 1_000),
        ("A : B WITHIN 5 seconds", 1_000),
        ("A ; B WITHIN 5 EVENTS", 1_000),
        ("A AS a ; NOT(B) FILTER a[x > 5] WITHIN 5 seconds", 1_000),
    ],
)
def test_the_tests_of_a_query_decide_what_is_read(pattern: str, read: int, path: Path) -> None:
    table = pq.read_table(path)
    query = cereus.compile(f"SELECT * WHERE {pattern}", stream=STREAM, schema=table.schema)
    assert rows_read(query, path) == read
    for threads in (1, 2):
        found = query.run(str(path), threads=threads)  # in other batches, so keys come otherwise
        assert Counter(map(str, found)) == Counter(map(str, query.run(table, threads=1)))


def test_a_condition_of_the_stream_decides_too(path: Path) -> None:
    stream = cereus.Stream(type="type", time="t", unit="s", where="t >= 250 AND t < 350")
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 5 seconds", stream=stream)
    assert rows_read(query, path) == 200
    assert list(query.run(str(path))) == list(query.run(pq.read_table(path)))


@pytest.mark.filterwarnings("ignore")
def test_rows_left_out_keep_their_numbers_in_parts(path: Path) -> None:
    text = "SELECT * WHERE A AS a ; D AS d FILTER a[t >= 450] AND d[t < 510] WITHIN 90 seconds"
    query = cereus.compile(text, stream=STREAM)
    run = query._start(source(str(path), STREAM), None, 3)
    run.always, run.least = True, 10
    found = [row for batch in run.batches() for row in batch.to_pylist()]
    assert run.how == "time"
    assert Counter(map(str, found)) == Counter(map(str, query.run(pq.read_table(path))))
    assert found


@pytest.mark.filterwarnings("ignore")
def test_random_queries_find_the_same_in_files(tmp_path: Path) -> None:
    less = 0
    for seed in range(volume(9, 100)):
        draw = Random(seed)
        case = ceql.case(draw)
        table = ceql.table(sorted(ceql.events(draw, 12), key=lambda row: row["t"]))
        file = tmp_path / f"{seed}.parquet"
        pq.write_table(table, file, row_group_size=2)
        query = cereus.compile(to_text(case.query), stream=case.stream)
        try:
            expected: list[Any] = list(query.run(table, threads=1))
        except cereus.CereusError:
            continue
        less += rows_read(query, file) < table.num_rows
        assert Counter(map(str, query.run(str(file)))) == Counter(map(str, expected)), query.text
    assert less
