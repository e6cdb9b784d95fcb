"""What the playground answers, without a browser: examples work, texts that are copied run."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cereus.cli import main
from cereus.play import answers
from cereus.play.answers import answer
from cereus.play.data import GIVEN, GivenFiles, PlayData
from cereus.play.samples import SAMPLES
from cereus.stream import Stream

pytest.importorskip("altair")
pytest.importorskip("igraph")

EVENTS = PlayData(GivenFiles(), 1_000_000)
EXAMPLES = [(sample, dialect) for sample in SAMPLES for dialect in sorted(SAMPLES[sample].examples)]
BUILT_IN = {"algebra", "ceql", "match_recognize", "par", "sase", "sremo"}
STREAM = {"type": "type", "time": "ts", "keys": [], "unit": ""}


def request(sample: str, dialect: str, text: str | None = None) -> dict[str, Any]:
    chosen = SAMPLES[sample].examples[dialect] if text is None else text
    return {"text": chosen, "dialect": dialect, "data": sample, **STREAM}


def test_every_sample_has_an_example_in_every_language() -> None:
    for sample in SAMPLES.values():
        assert set(sample.examples) >= BUILT_IN
        assert sample.events().equals(sample.events())


@pytest.mark.parametrize(("sample", "dialect"), EXAMPLES)
def test_every_example_has_matches_and_a_timeline(sample: str, dialect: str) -> None:
    given = request(sample, dialect)
    checked = answer("check", given, EVENTS)
    assert checked["problems"] == [] and checked["words"]
    found = answer("run", given, EVENTS)
    assert 0 < found["total"] <= 40 and found["notes"] == []
    assert "Along time" in [chart["title"] for chart in found["charts"]]
    assert len(found["rows"]) == found["total"] + found["completions"]
    json.dumps(found)


@pytest.mark.parametrize("dialect", sorted(SAMPLES["shop"].examples))
def test_every_language_is_explained(dialect: str) -> None:
    given = request("shop", dialect)
    assert "<table>" in answer("why", given, EVENTS)["html"]
    explained = answer("automaton", given, EVENTS)
    assert explained["svg"].startswith("<svg") and explained["sections"]
    for other in answer("others", given, EVENTS)["texts"]:
        assert ("text" in other) != ("reason" in other)
    assert "reason" in answer("why_not", {**given, "rows": [0, 1]}, EVENTS)


def test_a_translation_finds_the_same_matches() -> None:
    given = request("market", "ceql", "SELECT * WHERE SELL ; BUY PARTITION BY name WITHIN 2 s")
    (other,) = answer("others", given, EVENTS)["texts"]
    again = answer("run", request("market", other["dialect"], other["text"]), EVENTS)
    assert again["total"] == answer("run", given, EVENTS)["total"] > 0


def test_what_cannot_be_said_elsewhere_says_why_in_one_line() -> None:
    given = request("market", "ceql", "SELECT s WHERE SELL AS s")
    (other,) = answer("others", given, EVENTS)["texts"]
    assert other["reason"] == "SREMO has no variables to select: write SELECT *"


def test_an_error_says_where_it_is() -> None:
    given = request("market", "ceql", "SELECT * WHERE SELL AS s FILTER s[vol > 1]")
    (problem,) = answer("check", given, EVENTS)["problems"]
    assert given["text"][problem["start"] : problem["end"]] == "vol"
    assert "volume" in problem["message"]
    assert "vol" in answer("run", given, EVENTS)["error"]


def test_columns_types_variables_and_functions_are_completed() -> None:
    def words(text: str) -> dict[str, str]:
        given = {**request("market", "ceql", text), "offset": len(text)}
        return {w["label"]: w["kind"] for w in answer("complete", given, EVENTS)["words"]}

    assert words("SELECT * WHERE BU")["BUY"] == "type"
    assert words("SELECT * WHERE BUY AS big FILTER b")["big"] == "name"
    assert words("SELECT * WHERE BUY AS b FILTER b[vo")["volume"] == "column"
    assert words("SELECT * WHERE BUY AS b FILTER b[ab")["abs"] == "function"
    assert set(words("SELECT * WHERE BUY AS b FILTER b.")) == {
        "type", "name", "price", "volume", "ts",
    }  # fmt: skip


def test_more_matches_than_a_page_can_show_are_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers, "MOST_MATCHES", 30)
    found = answer("run", request("market", "ceql", "SELECT * WHERE SELL"), EVENTS)
    assert found["total"] == 30 and not found["complete"]
    assert "only the first 30 matches: there may be more" in found["notes"]


def test_requests_that_make_no_sense_are_errors() -> None:
    good = request("market", "ceql")
    for wrong in ({"data": "no"}, {"dialect": "no"}, {"text": 5}, {"keys": "ts"}, {"unit": "day"}):
        assert "error" in answer("run", {**good, **wrong}, EVENTS), wrong
    assert "error" in answer("why_not", {**good, "rows": ["a"]}, EVENTS)
    assert "error" in answer("rows", {"data": "market", "first": -1}, EVENTS)


# ---------------------------------------------------------------- files


def given_events(tmp_path: Path, table: pa.Table, **said: Any) -> PlayData:
    file = tmp_path / "mine.parquet"
    pq.write_table(table, file)
    return PlayData(GivenFiles((str(file),), **said), said.pop("most", 3))


def test_a_file_comes_first_with_a_query_over_its_types(tmp_path: Path) -> None:
    table = pa.table({"type": ["x y", "B"], "t": pa.array([1, 2], pa.timestamp("s"))})
    events = given_events(tmp_path, table)
    first = answer("start", {}, events)["data"][0]
    assert first["name"] == GIVEN and first["stream"]["time"] == "t"
    given = {"text": first["examples"]["ceql"], "dialect": "ceql", "data": GIVEN, **first["stream"]}
    assert answer("check", given, events)["problems"] == []


@pytest.mark.parametrize(
    ("columns", "type_"),
    [
        ({"Kind": ["A"]}, "Kind"),
        ({"kind": ["A"], "event_type": ["B"]}, "event_type"),
        ({"kind": [1], "name": ["A"]}, ""),
        ({"event": ["A"], "type": [1]}, "event"),
    ],
)
def test_the_column_of_types_is_told_by_its_name(
    tmp_path: Path, columns: dict[str, list[Any]], type_: str
) -> None:
    first = answer("start", {}, given_events(tmp_path, pa.table(columns)))["data"][0]
    assert first["stream"]["type"] == type_


def test_only_the_first_events_of_a_long_file_are_read(tmp_path: Path) -> None:
    table = pa.table({"kind": ["A"] * 10})
    events = given_events(tmp_path, table, type="kind")
    given = {"text": "SELECT * WHERE A", "dialect": "ceql", "data": GIVEN, "type": "kind"}
    found = answer("run", given, events)
    assert found["total"] == 3
    assert "only the first 3 events of the file" in found["notes"]


# ---------------------------------------------------------------- texts to copy


@pytest.mark.parametrize("dialect", sorted(SAMPLES["shop"].examples))
def test_copied_texts_find_the_same_matches(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(SAMPLES["shop"].events(), "shop.parquet")
    check_copies(request("shop", dialect), EVENTS)


ODD = """\
03.03.2025 09:30;A;1;n/a
03.03.2025 09:31;B;2;5
03.03.2025 09:32;A;3;7
03.03.2025 09:33;B;4;8
"""


def test_copied_texts_read_an_odd_file_as_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.dat").write_text(ODD)
    reading = {
        "format": "csv",
        "types": {"n": "double"},
        "header": ["at", "kind", "n", "more"],
        "delimiter": ";",
        "nulls": ["n/a"],
        "time_format": "%d.%m.%Y %H:%M",
    }
    said = GivenFiles(
        ("odd.dat",), type="kind", time="at", where="more IS NOT NULL", reading=reading
    )
    events = PlayData(said, 10)
    stream = events.of(GIVEN).described()["stream"]
    text = "SELECT * WHERE A ; B WITHIN 5 minutes"
    given = {"text": text, "dialect": "ceql", "data": GIVEN, **stream}
    assert answer("run", given, events)["total"] == 1
    check_copies(given, events)


def check_copies(given: dict[str, Any], events: PlayData) -> None:
    """The texts to copy find as many matches as the playground does."""
    total = answer("run", given, events)["total"]
    texts = answer("copies", given, events)["texts"]
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(texts["Python"], names)
    assert len(names["matches"]) == total
    _, run, *words = shlex.split(texts["Command line"])
    ran = CliRunner().invoke(main.app, [run, "--engine", "local", "-o", "found.parquet", *words])
    assert ran.exit_code == 0, ran.output
    assert pq.read_table("found.parquet").num_rows == total
    Path("pipeline.toml").write_text(texts["Pipeline"], encoding="utf-8")
    ran = CliRunner().invoke(main.app, ["run", "pipeline.toml", "--engine", "local"])
    assert ran.exit_code == 0, ran.output
    assert pq.read_table("matches").num_rows == total


@pytest.mark.parametrize("text", ["a '''", 'a "', 'a """ \\', "x\x0b", "ünï", "'"])
def test_any_text_is_quoted_as_it_is(text: str) -> None:
    import ast
    import tomllib

    from cereus.play.request import PlayRequest
    from cereus.play.snippets import snippets

    asked = PlayRequest(text, "ceql", "market", Stream(time="ts", keys=["n"]))
    texts = snippets(asked, "events.csv", {})
    call = next(node for node in ast.walk(ast.parse(texts["Python"])) if isinstance(node, ast.Call))
    written = [ast.literal_eval(arg) for arg in call.args]
    assert [each.strip() for each in written] == [text.strip()]
    assert shlex.split(texts["Command line"])[-2] == text.strip()
    read = tomllib.loads(texts["Pipeline"])
    assert read["queries"]["matches"]["text"].strip() == text.strip()
    assert read["sources"]["events"]["format"] == "csv"
