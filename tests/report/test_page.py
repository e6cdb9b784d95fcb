"""The report: one page with everything in it."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import cereus
from cereus.pictures.graphs import library
from cereus.report import report
from cereus.why import html

pytest.importorskip("altair")
pytest.importorskip("igraph")

EVIL = '</script><img src=x onerror="alert(1)">'
EVENTS = pa.table(
    {
        "type": ["SELL", "BUY", "SELL", "BUY"],
        "name": [EVIL, EVIL, "b", "b"],
        "price": [10.0, 12.0, 30.0, 9.0],
        "ts": [datetime(2025, 1, 1) + timedelta(seconds=5 * i) for i in range(4)],
    }
)
TEXT = (
    "SELECT s, b WHERE SELL AS s ; BUY AS b FILTER s.price < b.price PARTITION BY name"
    " WITHIN 1 minute"
)


def page(text: str = TEXT, dialect: str = "ceql", title: str | None = None) -> str:
    query = cereus.compile(text, dialect=dialect, stream=cereus.Stream(time="ts"))
    return report(query, EVENTS, title=title)


def without_library(made: str) -> str:
    """A page without the script that draws its charts, which names addresses and asks for none:
    the page allows no request, and a browser makes none in `tests/browser`."""
    bundle = str(library("vl_convert").javascript_bundle())
    assert made.count(bundle) == 1 and "</script" not in bundle
    return made.replace(bundle, "")


def test_it_has_all_parts() -> None:
    made = without_library(page(TEXT.replace("FILTER s.price < b.price ", "")))
    headings = re.findall("<h2>(.*?)</h2>", made)
    assert headings == [
        "The query", "The automaton", "From the first event of each match", "Along time",
        "Matches per time", "Matches per name", "The matches", "Why there are no more",
    ]  # fmt: skip
    assert "A SELL (s), then a BUY (b)" in made


def test_one_match_is_not_counted_by_time_and_key() -> None:
    made = page()
    assert "<b>1</b><span>match</span>" in made
    assert "<b>1</b><span>value of name with matches</span>" in made
    assert "Matches per" not in made
    assert "s.price is 30 and b.price is 9, off by 21" in made


def test_nothing_in_the_data_becomes_html() -> None:
    made = without_library(page(title=EVIL))
    assert "<img" not in made
    rows = re.search('<script type="application/json" id="rows">(.*?)</script>', made)
    assert rows is not None
    assert json.loads(rows[1])["rows"][0][0] == EVIL


def test_nothing_is_loaded_from_elsewhere() -> None:
    made = without_library(page())
    without_names = made.replace("http://www.w3.org/", "")
    assert "http://" not in without_names and "https://" not in without_names
    assert "default-src &#x27;none&#x27;" in made


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("sremo", "{SELL:} . {BUY:}"),
        ("sase", "PATTERN SEQ(SELL s, BUY b) RETURN s.price"),
        ("par", "repeat (SELL ; BUY[sold])"),
        ("algebra", "SELL ; BUY"),
        ("match_recognize", "MATCH_RECOGNIZE (ORDER BY ts MEASURES a.price AS p PATTERN (a b))"),
    ],
)
def test_every_language_has_a_page(dialect: str, text: str) -> None:
    made = page(text, dialect)
    assert "The automaton" in made
    assert "Why there are no more" in made


def test_matches_of_all_keys_are_in_the_order_of_time() -> None:
    query = cereus.compile(
        "SELECT s, b WHERE SELL AS s ; BUY AS b PARTITION BY name", stream=cereus.Stream(time="ts")
    )
    events = EVENTS.set_column(1, "name", pa.array(["a", "b", "b", "b"]))
    late = pa.table({"type": ["BUY"], "name": ["a"], "price": [1.0], "ts": [datetime(2025, 1, 2)]})
    made = report(query, pa.concat_tables([events, late]))
    rows = re.search('<script type="application/json" id="rows">(.*?)</script>', made)
    assert rows is not None
    assert [row[0] for row in json.loads(rows[1])["rows"]] == ["b", "a"]


def test_a_key_inside_a_column_is_counted_too() -> None:
    who = pa.array([{"id": 1}, {"id": 1}, {"id": 2}, {"id": 2}])
    text = "SELECT * WHERE SELL AS s ; BUY AS b PARTITION BY who.id"
    query = cereus.compile(text, stream=cereus.Stream(time="ts"))
    made = report(query, EVENTS.append_column("who", who))
    assert "<b>2</b><span>values of who.id with matches</span>" in made
    assert "<h2>Matches per who.id</h2>" in made


def test_a_page_without_matches() -> None:
    made = page("SELECT * WHERE HALT")
    assert "Along time" not in made
    assert len(made) < 50_000  # nor what would draw it
    assert "Why there are none" in made


def test_on_the_command_line(tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    from typer.testing import CliRunner

    from cereus.cli import main

    pq.write_table(EVENTS, tmp_path / "events.parquet")
    file = tmp_path / "out.html"
    arguments = ["report", TEXT, str(tmp_path / "events.parquet"), "--time", "ts", "-o", str(file)]
    assert CliRunner().invoke(main.app, arguments).exit_code == 0
    assert "<h2>The matches</h2>" in file.read_text("utf-8")


def test_misses_of_many_events_are_cut_short() -> None:
    events = pa.table({"type": ["A"] * 300 + ["B"], "x": range(301)})
    query = cereus.compile("SELECT MAX * WHERE A+ ; B FILTER B[x > 900]")
    made = report(query, events)
    assert "(301 in all)" in made and "The first 12 events of every miss." in made
    assert made.count("<tr>") < 200


def test_a_run_without_matches_has_no_empty_table() -> None:
    none = page("SELECT * WHERE SELL AS s FILTER s[price > 900]")
    assert "<p>There are none.</p>" in none and "Why there are none" in none
    assert '<table id="matches">' not in none and 'id="filter"' not in none


def test_a_table_that_is_cut_says_so_on_paper_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cereus.report.page.MOST_ROWS", 1)
    made = page("SELECT * WHERE SELL AS s ; BUY AS b")
    assert '<p class="note">The first 1 of 3 matches.</p>' in made


def test_programs_that_complete_are_no_matches() -> None:
    text, stream = "try (A ; B[pair]) unless C", cereus.Stream(keys="k")
    events = pa.table({"type": ["A"] * 40 + ["C"] * 40, "k": [*range(40)] * 2})
    made = report(cereus.compile(text, dialect="par", stream=stream), events)
    assert "<b>0</b><span>matches</span>" in made and "<h2>Why there are none</h2>" in made
    assert "The first 30 of 40 rows." in made


def test_misses_are_numbered_as_their_events_are() -> None:
    made = page("SELECT * WHERE SELL AS s FILTER s[price > 900]").replace(html.TEXT, "")
    assert "<th>miss</th><th>rows</th><th>what it misses</th>" in made
    assert "<td>1</td><td>2</td><td>the condition s[price &gt; 900]" in made


def test_a_program_says_one_number_of_matches_everywhere() -> None:
    """That it fails at last is no match."""
    events = pa.table({"type": ["BUY", "SELL", "BUY", "SELL", "CANCEL"]})
    text = "repeat (try BUY ; SELL[pair] unless CANCEL)"
    query = cereus.compile(text, dialect="par")
    matches = query.run(events)
    assert (len(matches), matches.total, matches.completions) == (3, 2, 1)
    assert repr(matches).startswith("2 matches and 1 completion\n")
    assert query.count(events) == query.why(events).matches == 2
    made = report(query, events)
    assert "<b>2</b><span>matches</span>" in made and "<b>1</b><span>completion</span>" in made
    assert "3 matches" not in made and "<b>2 matches" in made


def test_a_program_without_outputs_matches_where_it_completes() -> None:
    query = cereus.compile("BUY ; SELL", dialect="par")
    matches = query.run(pa.table({"type": ["BUY", "SELL"]}))
    assert (matches.total, matches.completions) == (1, 0)
