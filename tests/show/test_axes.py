"""What stands at the axes of charts, and in their legends."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import cereus
from cereus import show
from cereus.show.charts import charts_of
from cereus.sources import source

pytest.importorskip("altair")


def timed(begin: datetime) -> pa.Table:
    times = [begin + timedelta(hours=3 * hour) for hour in range(8)]
    return pa.table({"type": ["A", "B"] * 4, "ts": times})


@pytest.mark.parametrize(
    ("begin", "texts"),
    [
        (datetime(2025, 11, 3), {"3 Nov 2025", "06:00"}),
        (datetime(2025, 11, 3, 0, 1), {"03:00", "3 Nov 2025"}),
    ],
)
def test_a_time_axis_says_its_first_day_once(
    tmp_path: Path, begin: datetime, texts: set[str]
) -> None:
    pytest.importorskip("vl_convert")
    file = tmp_path / "chart.svg"
    found = cereus.compile("SELECT * WHERE A ; B WITHIN 3 hours", stream=cereus.Stream(time="ts"))
    show.save(show.timeline(found.run(timed(begin)), time="ts"), file)
    written = re.findall(r"<t(?:ext|span)[^>]*>([^<]*)<", file.read_text("utf-8"))
    assert [each for each in written if "Nov" in each] == ["3 Nov 2025"]
    assert texts <= set(written)


def test_the_legend_of_a_row_pattern_has_its_variables() -> None:
    """Its results do not have their rows, and the query that does names its columns differently."""
    clause = "MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS p PATTERN (x y) DEFINE x AS type = 'A')"
    query = cereus.compile(clause, dialect="match_recognize", stream=cereus.Stream(time="ts"))
    events = source(timed(datetime(2025, 11, 3)), query.stream)
    chart = next(iter(charts_of(query, events, query.run(events)))).chart.to_dict()
    assert chart["layer"][1]["encoding"]["color"]["sort"] == ["X", "Y"]


@pytest.mark.parametrize("name", ["kind", "position", "match"])
def test_events_are_coloured_by_the_column_of_their_types(name: str) -> None:
    """Which need not be called type; a name of a column of matches is changed."""
    table = timed(datetime(2025, 11, 3)).rename_columns([name, "ts"])
    query = cereus.compile("SELECT * WHERE A ; B", stream=cereus.Stream(type=name, time="ts"))
    color = show.timeline(query.run(table), time="ts").to_dict()["layer"][1]["encoding"]["color"]
    assert color["sort"] == ["A", "B"]
