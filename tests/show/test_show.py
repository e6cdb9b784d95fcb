"""Pictures: DOT that graphviz reads, charts that altair makes."""

from __future__ import annotations

import shutil
import sys
from datetime import datetime, timedelta

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


def test_a_column_that_is_not_there() -> None:
    pytest.importorskip("altair")
    with pytest.raises(CereusError, match="no column 'tss'"):
        show.timeline(query().run(EVENTS), time="tss")


def test_without_altair_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(CereusError, match="altair is not installed"):
        show.timeline(query().run(EVENTS))
