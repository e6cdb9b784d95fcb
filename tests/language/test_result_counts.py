"""Rows and matches are told apart, by one class of counts, wherever results are counted."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import cereus
from cereus.cli.main import app
from cereus.language.result_counts import ResultCounts

EVENTS = pa.table(
    {
        "type": ["SELL", "BUY", "SELL", "BUY", "BUY", "SELL"],
        "name": ["a", "a", "a", "a", "b", "b"],
        "ts": [0, 5, 60, 75, 80, 81],
    }
)
PAIRS = "PATTERN (a b) DEFINE a AS type = 'SELL', b AS type = 'BUY'"
MAYBE = "PATTERN (b*) DEFINE b AS type = 'BUY'"


def clause(body: str, rows: str) -> cereus.Query:
    text = f"MATCH_RECOGNIZE (PARTITION BY name ORDER BY ts MEASURES count(*) AS n {rows} {body})"
    return cereus.compile(text, dialect="match_recognize", schema=EVENTS.schema)


@pytest.mark.parametrize(
    ("body", "rows", "shown", "matches"),
    [
        (PAIRS, "ONE ROW PER MATCH", "2 matches", 2),
        (PAIRS, "ALL ROWS PER MATCH", "2 matches in 4 rows", 2),
        (PAIRS, "ALL ROWS PER MATCH WITH UNMATCHED ROWS", "2 matches in 6 rows", 2),
        (MAYBE, "ONE ROW PER MATCH", "6 matches", 6),
        (MAYBE, "ALL ROWS PER MATCH", "6 matches in 6 rows", 6),
        (MAYBE, "ALL ROWS PER MATCH OMIT EMPTY MATCHES", "3 matches in 3 rows", 3),
    ],
)
def test_all_rows_of_a_match_are_one_match(body: str, rows: str, shown: str, matches: int) -> None:
    query = clause(body, rows)
    found = query.run(EVENTS)
    assert str(found.counts) == shown
    assert repr(found).startswith(shown + "\n")
    assert found.total == query.count(EVENTS) == query.why(EVENTS).matches == matches


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_and_pushes_are_counted_alike(threads: int) -> None:
    query = clause(PAIRS, "ALL ROWS PER MATCH")
    batches = list(query.batches(EVENTS, threads=threads))
    assert ResultCounts.of(batches, query.compiled).matches == 2
    pushed = query.recognizer()
    parts = [pushed.push(EVENTS.slice(n, 1)).counts for n in range(EVENTS.num_rows)]
    whole = sum([*parts, pushed.finish().counts], ResultCounts())
    assert (whole.matches, whole.rows) == (2, 4)


def test_a_match_all_of_whose_rows_are_excluded_is_not_counted() -> None:
    """It has no rows in the output, whether other matches of its batch have some or not."""
    body = "PATTERN ({- a -} b?) DEFINE a AS type = 'SELL', b AS type = 'BUY'"
    query = clause(body, "ALL ROWS PER MATCH")
    alone = EVENTS.filter(pa.compute.equal(EVENTS["type"], "SELL"))
    assert (str(query.run(EVENTS).counts), query.count(EVENTS)) == ("2 matches in 2 rows", 2)
    assert (str(query.run(alone).counts), query.count(alone)) == ("0 matches", 0)


def test_of_some_rows_it_is_not_known_how_many_matches_they_are() -> None:
    found = clause(PAIRS, "ALL ROWS PER MATCH").run(EVENTS)
    assert (found.head(3).total, str(found.head(3).counts)) == (None, "3 rows")
    assert (found[:1].total, str(found[:1].counts)) == (None, "1 row")


def test_a_match_whose_rows_are_all_left_out_is_not_counted() -> None:
    some = clause(
        "PATTERN ({- a -} | b) DEFINE a AS type = 'SELL', b AS type = 'BUY'", "ALL ROWS PER MATCH"
    )
    assert str(some.run(EVENTS).counts) == "3 matches in 3 rows"


def test_no_rows_are_no_matches() -> None:
    none = clause(PAIRS, "ALL ROWS PER MATCH").run(EVENTS.slice(0, 1))
    assert (none.total, str(none.counts)) == (0, "0 matches")


def test_counts_are_added() -> None:
    rows = ResultCounts(5, 3, timeouts=1, completions=1)
    assert str(rows) == "3 matches and 1 time-out and 1 completion"
    assert str(rows + rows) == "6 matches and 2 time-outs and 2 completions"
    assert str(ResultCounts(5, 15, counted=True)) == "15 matches counted in 5 rows"
    unknown = ResultCounts(2, None, several=True)
    assert (unknown + unknown).matches is None
    assert str(unknown + unknown) == "4 rows"


PROGRAM = "BUY[bought] ; SELL"


def test_a_completion_is_no_match_for_the_command_line_or_a_pipeline(tmp_path) -> None:
    events = tmp_path / "events.csv"
    pa.csv.write_csv(EVENTS, events)
    program = cereus.compile(PROGRAM, dialect="par", stream=cereus.Stream(type="type", time="ts"))
    counts = program.run(EVENTS).counts
    assert (counts.matches, counts.completions) == (1, 1)
    columns = ["--type", "type", "--time", "ts", "--dialect", "par"]
    shown = CliRunner().invoke(app, ["run", PROGRAM, str(events), *columns, "--json"])
    table = CliRunner().invoke(app, ["run", PROGRAM, str(events), *columns]).stdout
    assert "all rows" in table
    assert "1 match and 1 completion" in table
    (ran,) = json.loads(shown.stdout)["queries"].values()
    assert (ran["matches"], ran["completions"], ran["rows"]) == (1, 1, 2)
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text(
        f"""
        mode = "batch"
        engine = "local"
        sources.events = {{ format = "csv", path = "{events}" }}
        streams.events = {{ source = "events", type = "type", time = "ts" }}
        [queries.bought]
        from = "events"
        dialect = "par"
        text = "{PROGRAM}"
        select = ["time"]
        [sinks.found]
        from = "bought"
        format = "csv"
        path = "{tmp_path}/found"
        """
    )
    (metrics,) = cereus.spark.Pipeline.load(pipeline).run()
    assert (metrics.matches, metrics.total_matches) == (1, 1)


def test_the_command_line_tells_rows_from_matches(tmp_path) -> None:
    events = tmp_path / "events.csv"
    pa.csv.write_csv(EVENTS, events)
    query = clause(PAIRS, "ALL ROWS PER MATCH").text
    shown = CliRunner().invoke(app, ["run", query, str(events), "--dialect", "match_recognize"])
    assert "all rows" in shown.stdout
    assert "2 matches in 4 rows" in shown.stdout
    written = CliRunner().invoke(
        app,
        ["run", query, str(events), "--dialect", "match_recognize", "-o", str(tmp_path / "m.csv")],
    )
    assert "2 matches in 4 rows" in written.stdout
