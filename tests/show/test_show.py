"""Pictures: DOT that graphviz reads, charts that altair makes."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import cereus
from cereus import show
from cereus.errors import CereusError
from cereus.pictures.diagram import Diagram
from cereus.pictures.graphs import library
from cereus.pictures.layout import laid_out
from cereus.pictures.svg import Drawn, joined, overlap
from cereus.report import report
from cereus.show.stretches import CountedStretch, stretches

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


def rows_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """What a chart shows, as altair sets it aside."""
    rows: list[dict[str, Any]] = chart["datasets"][chart["data"]["name"]]
    return rows


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


def test_a_row_pattern_says_what_its_variables_ask() -> None:
    text = "MATCH_RECOGNIZE (ORDER BY t ALL ROWS PER MATCH PATTERN (a b+) DEFINE b AS x > PREV(x))"
    dot = show.diagram(cereus.compile(text, dialect="match_recognize")).dot
    assert (
        'label="B: x > PREV(x)\\l1, 2, …: the way that is tried first, then the others\\l"' in dot
    )


def test_an_end_stands_behind_all_that_lead_to_it() -> None:
    """A label between two nodes of one layer would lie on one of them."""
    pytest.importorskip("igraph")
    text = "repeat (A ; try (B ; B)[out] unless A)"
    graph = show.diagram(cereus.compile(text, dialect="par")).graph
    spots = laid_out(graph)
    ends = {node.name for node in graph.nodes} - {edge.tail for edge in graph.edges}
    assert ends
    for edge in graph.edges:
        if edge.head in ends:
            assert spots[edge.tail].x < spots[edge.head].x


def test_what_is_written_at_an_upright_edge_stands_beside_it() -> None:
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    edges = 's -> a; s -> b; a -> b [label="down"]; b -> a [label="up"];'
    drawn = Diagram(f"digraph g {{ s [shape=point]; {edges} }}")
    spots = laid_out(drawn.graph)
    assert spots["a"].x == spots["b"].x
    svg = ElementTree.fromstring(drawn.svg())
    written = {"".join(e.itertext()): e for e in svg.iter("{http://www.w3.org/2000/svg}text")}
    for text in ("down", "up"):
        at = float(written[text][0].attrib["x"])
        assert abs(at - spots["a"].x) > 3 * len(text)


def test_nothing_is_written_over_what_is_written_at_another_edge() -> None:
    """Edges that cross would have their texts in the same place, and one would hide the other."""
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    svg = show.diagram(cereus.compile("SELECT * WHERE A AS a ALL B AS b ALL C AS c")).svg()
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    lines = [line for text in texts if text.get("text-anchor") == "middle" for line in text]
    places = [(line.attrib["x"], line.attrib["y"]) for line in lines]
    assert len(places) == len(set(places)) > 20


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("repeat (signup ; create_project[found])", "par"),
        ("SELECT * WHERE (A AS a ; (B+ OR C:{2,3})) ; D WITHOUT E WITHIN 5 minutes", "ceql"),
        ("SELECT * WHERE A AS a ALL B AS b ALL C AS c", "ceql"),
    ],
)
def test_a_text_at_an_edge_is_clear_of_lines_and_nodes(text: str, dialect: str) -> None:
    """A line through a text cannot be read, nor one that hides a line."""
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    stream = cereus.Stream(time="t", unit="s")
    graph = show.diagram(cereus.compile(text, dialect=dialect, stream=stream)).graph
    drawn = Drawn(joined(graph), laid_out(graph))
    svg = "".join(drawn.edges())
    assert svg.count("<text") == len(drawn.texts) > 1
    for place, corners in enumerate(drawn.texts):
        others = [*drawn.texts[:place], *drawn.texts[place + 1 :]]
        assert not any(overlap(corners, other) for other in others)
        (left, top), (right, bottom) = corners
        hidden = [(x, y) for x, y in drawn.crossed if left < x < right and top < y < bottom]
        assert len(hidden) <= 4


def test_states_that_no_match_comes_to_are_not_drawn() -> None:
    """A reluctant repetition at the end never takes more than it must."""
    text = "MATCH_RECOGNIZE (ALL ROWS PER MATCH PATTERN (a b{2,3}?) DEFINE b AS x > 1)"
    graph = show.diagram(cereus.compile(text, dialect="match_recognize")).graph
    heads = {edge.head for edge in graph.edges}
    assert all(node.name in heads or node.point for node in graph.nodes)
    assert [node.lines for node in graph.nodes].count(("B",)) == 2


def test_a_picture_is_light_on_paper() -> None:
    """Whatever the screen is: a dark picture of a printed page cannot be read."""
    pytest.importorskip("igraph")
    svg = show.diagram(query()).svg()
    assert "prefers-color-scheme:dark" in svg.replace(" ", "")
    assert "@media (prefers-color-scheme" not in svg and "@media screen and (prefers" in svg


def test_no_line_is_drawn_over_a_text() -> None:
    """A text has a rim in the colour of the page, which hides what was drawn before it."""
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    program = "repeat (try BUY(v > 2) ; SELL(v > 2)[pair] unless SELL(v > 9))"
    svg = show.diagram(cereus.compile(program, dialect="par")).svg()
    drawn = [line for line in svg.splitlines() if line.startswith(("<path", "<text"))]
    edges = [place for place, line in enumerate(drawn) if 'class="edge"' in line]
    assert len(edges) > 4
    assert all(line.startswith("<path") for line in drawn[: max(edges)])


def test_events_that_lead_the_same_way_stand_in_lines_of_their_own() -> None:
    program = "repeat (try BUY(v > 2) ; SELL(v > 2)[pair] unless SELL(v > 9))"
    dot = cereus.compile(program, dialect="par").compiled.diagram()
    assert ",\\nSELL where v > 2 AND v > 9" in dot


@pytest.mark.parametrize("theme", ['data-jp-theme-light="false"', "body.vscode-dark"])
def test_a_picture_follows_the_notebook_that_it_stands_in(theme: str) -> None:
    pytest.importorskip("igraph")
    lines = [line for line in show.diagram(query()).svg().splitlines() if theme in line]
    (rule,) = lines
    assert rule.startswith("@media screen{") and "--paper:#111418" in rule


def test_keys_that_a_browser_would_round_are_told_apart() -> None:
    pytest.importorskip("altair")
    ids = [2**53, 2**53 + 1]
    events = pa.table({"type": ["A"] * 2, "id": ids, "ts": pa.array(ids, pa.int64())})
    stream = cereus.Stream(time="ts", unit="ns")
    found = cereus.compile("SELECT * WHERE A AS a PARTITION BY id", stream=stream).run(events)
    keys = rows_of(show.matches_per_key(found, "id").to_dict())
    assert {row["id"] for row in keys} == {str(each) for each in ids}
    marks = rows_of(show.timeline(found, time="ts").to_dict())
    assert [row["~at"] for row in marks] == ids  # an axis is of numbers
    assert [row["ts"] for row in marks] == [str(each) for each in ids]
    assert [row["id"] for row in marks] == [str(each) for each in ids]


def test_the_title_of_an_axis_stands_clear_of_long_keys() -> None:
    pytest.importorskip("altair")
    events = EVENTS.set_column(1, "name", pa.array(["n" * 40] * 3))
    text = "SELECT a, b WHERE A AS a ; B AS b PARTITION BY name"
    found = cereus.compile(text, stream=cereus.Stream(time="ts")).run(events)
    chart = show.matches_per_key(found, "name").to_dict()
    assert chart["encoding"]["y"]["axis"]["titlePadding"] >= 50


def test_a_key_that_is_null_and_one_that_is_very_long() -> None:
    pytest.importorskip("altair")
    events = EVENTS.set_column(1, "name", pa.array([None, None, "n" * 400]))
    text = "SELECT a, b WHERE A AS a ; B AS b PARTITION BY name"
    found = cereus.compile(text, stream=cereus.Stream(time="ts")).run(events)
    chart = show.timeline(found, time="ts").to_dict()
    assert [row["~label"] for row in rows_of(chart)] == ["0 · null", "0 · null"]
    long = events.set_column(1, "name", pa.array(["n" * 400] * 3))
    found = cereus.compile(text, stream=cereus.Stream(time="ts")).run(long)
    axis = show.timeline(found, time="ts").to_dict()["layer"][0]["encoding"]["y"]["axis"]
    assert axis["titlePadding"] < 60  # or nothing is left of the width


def labels(chart: Any) -> set[str]:
    """What is written in a chart."""
    svg = ElementTree.fromstring(library("vl_convert").vegalite_to_svg(chart.to_dict()))
    return {"".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text")}


def found_every(apart: timedelta, zone: str | None = None) -> cereus.Matches:
    """Seven matches of two events, so far apart from each other."""
    times = pa.array([datetime(2025, 1, 1, 22, 30) + apart * n for n in range(14)])
    kind = pa.timestamp("us", zone)
    events = pa.table({"type": ["A", "B"] * 7, "ts": times.cast(pa.timestamp("us")).cast(kind)})
    text = "SELECT NEXT a, b WHERE A AS a ; B AS b"
    return cereus.compile(text, stream=cereus.Stream(time="ts")).run(events)


@pytest.mark.parametrize(
    ("apart", "label", "never"),
    [
        (timedelta(microseconds=700), r"22:30:00\.\d{3}", ".005"),
        (timedelta(milliseconds=700), "22:30:02", ":02"),
        (timedelta(seconds=700), "23:30", "11:30"),
        (timedelta(hours=7), "3 Jan", "Fri 03"),
        (timedelta(days=70), "Jul 2025", "July"),
    ],
)
def test_labels_along_time_say_the_time_as_a_person_reads_it(
    apart: timedelta, label: str, never: str
) -> None:
    """Vega's own leave out the minute, or the half of the day."""
    pytest.importorskip("vl_convert")
    found = found_every(apart)
    for chart in (show.timeline(found, time="ts"), show.matches_per_time(found)):
        written = labels(chart)
        assert never not in written
        assert any(re.search(r"\d+ \w+ 202\d$", each) for each in written)  # the day
    assert any(re.fullmatch(label, each) for each in labels(show.timeline(found, time="ts")))


def test_times_are_shown_in_the_zone_that_they_are_given_in() -> None:
    """Whatever the zone of the browser: as the table beside the chart shows them."""
    pytest.importorskip("vl_convert")
    found = found_every(timedelta(hours=1), "Asia/Tokyo")
    rows = rows_of(show.timeline(found, time="ts").to_dict())
    clock = datetime(2025, 1, 2, 7, 30)
    assert rows[0]["ts"] == "2025-01-02 07:30:00+09:00"
    assert rows[0]["~at"] == clock.replace(tzinfo=UTC).timestamp() * 1000
    for chart in (show.timeline(found, time="ts"), show.matches_per_time(found)):
        written = labels(chart)
        assert "12:00" in written and "03:00" not in written
        assert any("(Asia/Tokyo)" in each for each in written)


def test_what_is_counted_lies_in_stretches_that_begin_at_round_times() -> None:
    pytest.importorskip("altair")
    bars = rows_of(show.matches_per_time(found_every(timedelta(seconds=90))).to_dict())
    assert bars[0]["from"] == "2025-01-01 22:31:30" and bars[0]["to"] == "2025-01-01 22:32:00"
    assert sum(bar["matches"] for bar in bars) == 7


@pytest.mark.parametrize("begin", [datetime.min, datetime.max - timedelta(days=100)])
def test_times_at_the_ends_of_those_that_python_has_are_counted(begin: datetime) -> None:
    """A stretch may end behind them, and says so with the last one."""
    pytest.importorskip("altair")
    times = [begin, begin + timedelta(days=100)]
    table = pa.table({"type": [*"AB"], "ts": pa.array(times, pa.timestamp("us"))})
    found = cereus.compile("SELECT * WHERE A OR B", stream=cereus.Stream(time="ts")).run(table)
    bars = rows_of(show.matches_per_time(found).to_dict())
    assert sum(bar["matches"] for bar in bars) == 2
    assert all("0001-" <= bar["from"] <= bar["to"] <= "9999-12-31 24" for bar in bars)


def test_keys_that_are_times_beyond_the_year_9999_label_their_lanes_with_numbers() -> None:
    pytest.importorskip("altair")
    far = pa.array([2**62, 2**62], pa.timestamp("ms"))
    table = pa.table({"type": [*"AB"], "k": far})
    found = cereus.compile("SELECT * WHERE A ; B PARTITION BY k").run(table)
    rows = rows_of(show.timeline(found).to_dict())
    assert {row["~label"] for row in rows} == {f"0 · {2**62}"}


@pytest.mark.parametrize(
    "values", [["u", "v"], [b"u", b"v"], [[1], [2]], [{"a": 1}, {"a": 2}], [time(1), time(2)]]
)
def test_what_is_no_time_and_no_number_is_not_drawn_along(values: list[Any]) -> None:
    pytest.importorskip("altair")
    table = pa.table({"type": [*"AB"], "x": values})
    found = cereus.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS").run(table)
    with pytest.raises(CereusError, match="an axis has times or numbers, not"):
        show.timeline(found, time="x")


def test_a_report_of_rows_in_the_order_of_bytes_is_refused() -> None:
    table = pa.table({"type": [*"AB"], "x": [b"u", b"v"]})
    text = "MATCH_RECOGNIZE (ORDER BY x MEASURES count(*) AS n PATTERN (a b))"
    stream = cereus.Stream(time="x")
    query = cereus.compile(text, dialect="match_recognize", stream=stream)
    with pytest.raises(CereusError, match=r"times or numbers|which is no time"):
        report(query, table)


def test_a_duration_is_drawn_in_seconds() -> None:
    pytest.importorskip("altair")
    table = pa.table({"type": [*"AB"], "x": pa.array([1_500, 3_000], pa.duration("ms"))})
    found = cereus.compile("SELECT * WHERE A ; B WITHIN 9 EVENTS").run(table)
    rows = rows_of(show.timeline(found, time="x").to_dict())
    assert [row["~at"] for row in rows] == [1.5, 3.0]


def test_times_that_are_not_finite_are_left_out_of_what_is_counted() -> None:
    pytest.importorskip("altair")
    times = [float("-inf"), 1.0, 2.0, float("inf")]
    stream = cereus.Stream(time="ts", unit="s")
    found = cereus.compile("SELECT * WHERE A", stream=stream).run(
        pa.table({"type": ["A"] * 4, "ts": times})
    )
    assert sum(bar["matches"] for bar in rows_of(show.matches_per_time(found).to_dict())) == 2
    assert stretches([float("inf"), float("nan")], timed=True) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([3, None, 3], [CountedStretch(3, 4, 2)]),
        ([1, 600], [CountedStretch(0, 10, 1), CountedStretch(600, 610, 1)]),
        ([0.25, 0.5], [CountedStretch(0.25, 0.255, 1), CountedStretch(0.5, 0.505, 1)]),
        ([-1, 1], [CountedStretch(-1, 0, 1), CountedStretch(1, 2, 1)]),
    ],
)
def test_stretches_of_numbers(values: list[float | None], expected: list[CountedStretch]) -> None:
    assert stretches(values, timed=False) == expected


def test_an_event_may_have_columns_of_any_name() -> None:
    """Those of the chart's own are no others'."""
    pytest.importorskip("altair")
    events = EVENTS.append_column("label", pa.array(["x", "y", "z"])).append_column(
        "~at", pa.array([1, 2, 3])
    )
    chart = show.timeline(query().run(events), time="ts").to_dict()
    assert [row["label"] for row in rows_of(chart)] == ["x", "y", "x", "z"]
    assert [row["_7e_at"] for row in rows_of(chart)] == [1, 2, 1, 3]
    shown = [each["title"] for each in chart["layer"][1]["encoding"]["tooltip"]]
    assert shown == ["match", "position", "variables", "type", "name", "ts", "label", "~at"]


def test_a_large_automaton_is_cut() -> None:
    many = " ALL ".join(f"(A{i} ; B{i})" for i in range(5))
    dot = show.diagram(cereus.compile(f"SELECT * FROM S WHERE {many}")).dot
    assert "more" in dot


def test_a_picture_needs_no_graphviz() -> None:
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    drawn = show.diagram(query())
    svg = ElementTree.fromstring(drawn.svg())
    texts = ["".join(each.itertext()) for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"s0", "s1", "s2", "t0/ a", "t1/ b"} <= set(texts)
    assert "t0: A where name = 'x\"y'" in texts
    assert drawn._repr_svg_() == drawn.svg()


def test_a_diagram_is_saved_as_charts_are(tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    pytest.importorskip("pydot")
    show.save(show.diagram(query()), tmp_path / "automaton.svg")
    assert (tmp_path / "automaton.svg").read_text("utf-8").startswith("<svg")
    with pytest.raises(CereusError, match="cannot draw to"):
        show.save(show.diagram(query()), tmp_path / "automaton.html")


def test_nodes_stand_apart_from_left_to_right() -> None:
    pytest.importorskip("igraph")
    spots = laid_out(show.diagram(query()).graph)
    assert spots["start"].x < spots["s0"].x < spots["s1"].x < spots["s2"].x


LANGUAGES = [
    ("ceql", "SELECT * WHERE A ; B+ ; C"),
    ("sremo", "any({A:}, {B:})"),
    ("sase", "PATTERN SEQ(A a, B+ b[], C c)"),
    ("par", "repeat (a ; try b[OUT] unless c)"),
    ("algebra", "((A ; B)_5 - C) + (B | D)"),
    ("match_recognize", "MATCH_RECOGNIZE (MEASURES 1 AS x PATTERN (a (b | c)+ d?))"),
]


@pytest.mark.parametrize(("dialect", "text"), LANGUAGES)
def test_every_language_is_drawn(dialect: str, text: str) -> None:
    pytest.importorskip("igraph")
    drawn = show.diagram(cereus.compile(text, dialect=dialect))
    graph = drawn.graph
    assert {edge.head for edge in graph.edges} <= {node.name for node in graph.nodes}
    loops = [edge.tail for edge in graph.edges if edge.tail == edge.head]
    arrows = drawn.mermaid().count("-->") + drawn.mermaid().count("-.->")
    assert arrows == len(graph.edges) - len(loops) + len(set(loops))
    assert drawn.dot.count('fontname="Helvetica"') >= 3
    ElementTree.fromstring(drawn.svg())


def test_loops_of_one_node_are_one_in_mermaid() -> None:
    """It draws them over one another: of what is taken and what is ignored, one was hidden."""
    pytest.importorskip("pydot")
    text = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) { b[i].x > b[i-1].x }"
    lines = show.diagram(cereus.compile(text, dialect="sase")).mermaid().splitlines()
    (loop,) = (line for line in lines if "take<br>B" in line)
    assert "ignore" in loop and " -->|" in loop


def test_names_are_text_in_every_form() -> None:
    pytest.importorskip("igraph")
    text = "SELECT * WHERE A AS a ; B FILTER a[name = '</svg><script>alert(1)</script>']"
    drawn = show.diagram(cereus.compile(text))
    assert "<script" not in drawn.svg()
    assert "<script" not in drawn.mermaid()


def test_a_picture_in_pixels() -> None:
    pytest.importorskip("vl_convert")
    pytest.importorskip("igraph")
    assert show.diagram(query()).png().startswith(b"\x89PNG")


def test_pictures_have_words_for_what_fonts_have_no_sign_for() -> None:
    """In pixels, a sign that the font lacks was drawn in another one."""
    query = cereus.compile("repeat (a ; try b[OUT] unless c)", dialect="par")
    dot = show.diagram(query).dot
    assert " / failure" in dot
    assert not set("⊥⊤ι").intersection(dot)


def test_without_the_libraries_there_is_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydot", None)
    drawn = show.diagram(query())
    assert drawn._repr_svg_() is None
    with pytest.raises(CereusError, match="pydot is not installed"):
        drawn.svg()


def test_a_timeline_has_a_mark_per_event() -> None:
    pytest.importorskip("altair")
    chart = show.timeline(query().run(EVENTS), time="ts").to_dict()
    rows = rows_of(chart)
    assert len(rows) == 4
    assert rows[0]["variables"] == "a"
    assert show.timeline(query().run(EVENTS)).to_dict()


def test_lanes_of_a_column_and_bands_of_matches() -> None:
    pytest.importorskip("altair")
    chart = show.timeline(query().run(EVENTS), time="ts", lanes="variables").to_dict()
    bands, points = chart["layer"]
    assert bands["mark"]["type"] == "line" and bands["encoding"]["detail"][0]["field"] == "match"
    assert points["encoding"]["y"]["title"] == "variables"
    assert points["encoding"]["y"]["sort"] == ["a", "b"]  # the order of the pattern
    assert "tooltip" in points["encoding"]
    assert chart["layer"][0].get("params") or chart.get("params")  # it zooms


def test_matches_per_time_and_per_key() -> None:
    pytest.importorskip("altair")
    timed = cereus.compile(QUERY, stream=cereus.Stream(time="ts", keys="name")).run(EVENTS)
    per_time = show.matches_per_time(timed).to_dict()
    assert len(rows_of(per_time)) == 2
    per_key = show.matches_per_key(timed, "name").to_dict()
    assert rows_of(per_key) == [{"name": 'x"y', "matches": 2}]
    with pytest.raises(CereusError, match="no column 'nam'"):
        show.matches_per_key(timed, "nam")


def test_altair_does_not_check_every_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a millisecond for each: seconds for the matches of a playground."""
    schemapi = pytest.importorskip("altair.utils.schemapi")
    checked, usual = [], schemapi.validate_jsonschema
    monkeypatch.setattr(
        schemapi,
        "validate_jsonschema",
        lambda spec, *given, **more: checked.append(str(spec)) or usual(spec, *given, **more),
    )
    timed = cereus.compile(QUERY, stream=cereus.Stream(time="ts", keys="name")).run(EVENTS)
    for chart in (show.matches_per_time(timed), show.matches_per_key(timed, "name")):
        assert rows_of(chart.to_dict())
    show.timeline(timed, time="ts").to_dict()
    assert checked
    assert not any("'values': [{" in spec for spec in checked)


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_charts_are_saved(tmp_path: Path, suffix: str, begins: bytes) -> None:
    pytest.importorskip("vl_convert")
    file = tmp_path / f"chart.{suffix}"
    show.save(show.timeline(query().run(EVENTS), time="ts"), file)
    assert file.read_bytes().startswith(begins)
    with pytest.raises(CereusError, match="cannot draw"):
        show.save(show.timeline(query().run(EVENTS)), tmp_path / "chart.gif")


def test_a_query_shows_itself_in_a_notebook() -> None:
    shown = query()._repr_html_()
    assert "x&quot;y" in shown and "An A (a)" in shown


def test_aligned_matches_begin_at_zero() -> None:
    pytest.importorskip("altair")
    chart = show.timeline(query().run(EVENTS), time="ts", aligned=True).to_dict()
    passed = [row["since the first event"] for row in rows_of(chart)]
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
    rows = rows_of(show.timeline(keyed(), time="ts").to_dict())
    assert [row["~label"] for row in rows] == ["0 · x", "0 · x", "1 · y", "1 · y"]
    timestamps = query().run(EVENTS)
    assert axes(show.timeline(timestamps, time="ts")) == ("ts", "match")
    shapes = show.timeline(timestamps, time="ts", aligned=True)
    assert axes(shapes)[0] == "seconds since the first event"


@pytest.mark.parametrize(
    ("seconds", "unit", "last"),
    [
        (179, "seconds", 179),
        (180, "minutes", 3),
        (9_000, "minutes", 150),
        (10_800, "hours", 3),
        (10 * 86_400, "days", 10),
    ],
)
def test_long_matches_are_aligned_in_a_longer_unit(seconds: int, unit: str, last: float) -> None:
    pytest.importorskip("altair")
    ts = pa.array([5, 5 + seconds], pa.timestamp("s"))
    text, table = "SELECT * WHERE Z ; A", pa.table({"type": ["Z", "A"], "ts": ts})
    matches = cereus.compile(text, stream=cereus.Stream(time="ts")).run(table)
    chart = show.timeline(matches, time="ts", aligned=True)
    assert axes(chart)[0] == f"{unit} since the first event"
    assert [row["since the first event"] for row in rows_of(chart.to_dict())] == [0, last]


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


def test_edges_between_the_same_nodes_are_drawn_as_one() -> None:
    """Their texts stand below one another, and not on top of each other."""
    text = "repeat (try (A(x > 2) ; B)[up] unless C | D[other])"
    query = cereus.compile(text, dialect="par", stream=cereus.Stream(type="type"))
    svg = show.diagram(query).svg()
    assert query.compiled.diagram().count("q1 -> q0") == 2
    assert svg.count('class="edge"') == query.compiled.diagram().count(" -> ") - 1
