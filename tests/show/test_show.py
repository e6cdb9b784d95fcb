"""Pictures: DOT that graphviz reads, charts that altair makes."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus import show
from cereus.errors import CereusError

QUERY = "SELECT a, b FROM S WHERE A AS a ; B AS b FILTER a[name = 'x\"y'] WITHIN 5 EVENTS"
EVENTS = pa.table(
    {
        "type": ["A", "B", "B"],
        "name": ['x"y'] * 3,
        "ts": [datetime(2025, 1, 1) + timedelta(seconds=i) for i in range(3)],
    }
)


def query() -> cereus.Query:
    return cereus.compile(QUERY)


def test_the_automaton_in_dot() -> None:
    dot = show.diagram(query()).dot
    assert dot.startswith("digraph automaton {")
    assert "start -> s0;" in dot
    assert 's0 -> s1 [label="t0\\n/ a"];' in dot
    assert "s2 [shape=doublecircle];" in dot


def test_the_detection_of_an_event_expression_in_dot() -> None:
    text = "A(x > 1) ; ((B ; C) + A(x > 1))_5"
    expression = cereus.compile(text, dialect="algebra", optimise=False)
    dot = show.diagram(expression).dot
    assert dot.startswith("digraph detection {")
    assert dot.count("shape=box") == 3  # equal parts are one
    assert 'label="A(x > 1)", shape=box' in dot
    assert 'label=";\\nkeeps l"' in dot
    assert 'label="+\\nkeeps l, r"' in dot
    assert 'label="_5"' in dot
    assert 'label=";\\nkeeps l, Q ≤ 3"' in dot
    assert f"{expression.compiled.bounds.state_bytes} bytes for each key" in dot  # type: ignore[attr-defined]


def test_a_large_automaton_is_cut() -> None:
    many = " ALL ".join(f"(A{i} ; B{i})" for i in range(5))
    dot = show.diagram(cereus.compile(f"SELECT * FROM S WHERE {many}")).dot
    assert "more" in dot


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_graphviz_draws_it() -> None:
    assert "<svg" in show.diagram(query()).svg()
    assert "<svg" in str(show.diagram(query())._repr_svg_())


def test_without_graphviz_there_is_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    drawn = show.diagram(query())
    assert drawn._repr_svg_() is None
    with pytest.raises(CereusError, match="graphviz"):
        drawn.svg()


def test_a_timeline_has_a_mark_per_event() -> None:
    pytest.importorskip("altair")
    chart = show.timeline(query().run(EVENTS), time="ts").to_dict()
    rows = chart["data"]["values"]
    assert len(rows) == 4
    assert rows[0]["variables"] == "a"
    assert show.timeline(query().run(EVENTS)).to_dict()


def test_aligned_matches_begin_at_zero() -> None:
    pytest.importorskip("altair")
    chart = show.timeline(query().run(EVENTS), time="ts", aligned=True).to_dict()
    passed = [row["since the first event"] for row in chart["data"]["values"]]
    assert passed == [0, 1, 0, 2]


def keyed() -> cereus.Matches:
    table = pa.table({"type": ["Z", "A"] * 2, "k": ["x", "x", "y", "y"], "ts": [5, 6, 7, 9]})
    text = "SELECT z, a WHERE Z AS z ; A AS a PARTITION BY k WITHIN 9 seconds"
    return cereus.compile(text, stream=cereus.Stream(time="ts", unit="ms")).run(table)


def axes(chart: Any) -> tuple[str, str]:
    encoding = chart.to_dict()["layer"][0]["encoding"]
    return encoding["x"]["title"], encoding["y"]["title"]


def test_a_timeline_names_its_unit_and_its_keys() -> None:
    pytest.importorskip("altair")
    assert axes(show.timeline(keyed(), time="ts")) == ("ts (ms)", "match · k")
    assert axes(show.timeline(keyed(), time="ts", aligned=True))[0] == "ms since the first event"
    assert axes(show.timeline(keyed()))[0] == "position"
    rows = show.timeline(keyed(), time="ts").to_dict()["data"]["values"]
    assert [row["label"] for row in rows] == ["0 · x", "0 · x", "1 · y", "1 · y"]
    timestamps = query().run(EVENTS)
    assert axes(show.timeline(timestamps, time="ts")) == ("ts", "match")
    shapes = show.timeline(timestamps, time="ts", aligned=True)
    assert axes(shapes)[0] == "seconds since the first event"


def test_the_legend_of_a_timeline_is_in_the_order_of_the_pattern() -> None:
    pytest.importorskip("altair")
    color = show.timeline(keyed(), time="ts").to_dict()["layer"][1]["encoding"]["color"]
    assert color["sort"] == ["z", "a"] and color["title"] == "variables"
    by_type = show.timeline(keyed(), time="ts", color="type").to_dict()["layer"][1]["encoding"]
    assert by_type["color"]["sort"] == ["Z", "A"]


def test_a_column_that_is_not_there() -> None:
    pytest.importorskip("altair")
    with pytest.raises(CereusError, match="no column 'tss'"):
        show.timeline(query().run(EVENTS), time="tss")


def test_without_altair_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(CereusError, match="altair is not installed"):
        show.timeline(query().run(EVENTS))
