"""`--json`: the fields that docs/api.md lists, and errors as objects too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .conftest import Run

Write = Callable[..., Path]
QUERY = "SELECT a, b WHERE SELL AS a ; BUY AS b PARTITION BY name WITHIN 10 seconds"


def objects(done: Any, code: int = 0) -> dict[str, Any]:
    assert done.exit_code == code, done.output
    fields = json.loads(done.stdout)
    assert fields.pop("format") == 1
    return dict(fields)


def test_why_answers_in_the_same_form(cli: Run, write: Write) -> None:
    why = ("why", QUERY, write(), "--json")
    fields = objects(cli(*why, "--time", "ts"))
    assert fields["ok"]
    assert {"answer", "matches", "steps", "rules", "misses", "untried", "notes"} <= set(fields)
    expected = objects(cli(*why, "--time", "ts", "--match", "0,1"))
    assert {"matched", "excluded", "reason"} <= set(expected)
    failed = objects(cli(*why, "--time", "tz"), code=1)
    assert not failed["ok"] and "tz" in failed["error"]["message"]


def test_check_writes_what_is_known_of_a_query(cli: Run, write: Write) -> None:
    assert objects(cli("check", QUERY, "--json", "--schema", write(), "--time", "ts")) == {
        "ok": True,
        "dialect": "ceql",
        "query": QUERY,
        "variables": ["a", "b"],
        "keys": ["name"],
        "warnings": [],
        "columns_checked": True,
    }
    fields = objects(cli("check", "SELECT * WHERE A ; B WITHIN 1 hour", "--json"))
    assert fields["warnings"] == ["WITHIN a length of time needs a time column: --time COLUMN"]
    assert not fields["columns_checked"]


def test_an_error_has_a_kind_a_place_and_a_hint(cli: Run) -> None:
    fields = objects(cli("check", "SELECT *\nWHERE A B", "--json"), code=1)
    assert not fields["ok"]
    error = fields["error"]
    assert error["kind"] == "QuerySyntaxError" and "but found 'B'" in error["message"]
    assert (error["line"], error["column"], error["span"]) == (2, 9, [17, 18])
    assert "between two events" in error["hint"]
    missing = objects(cli("explain", "nothing.ceql", "--json"), code=1)["error"]
    assert missing == {
        "kind": "CereusError",
        "message": "there is no query file 'nothing.ceql'",
        "hint": "check the path",
    }


def test_explain_writes_its_sections(cli: Run) -> None:
    fields = objects(cli("explain", QUERY, "--json"))
    assert fields["sections"]["tests"] == ["t0  SELL", "t1  BUY"]
    assert fields["sections"]["warnings"] == fields["warnings"]
    assert "--time COLUMN" in fields["warnings"][0]
    translated = objects(
        cli("explain", QUERY.replace("SELECT a, b", "SELECT *"), "--json", "--as", "sremo")
    )
    assert translated["dialect"] == "sremo" and translated["ok"]


def test_explain_names_flags_and_not_arguments_of_python(cli: Run) -> None:
    assert "needs a time column: --time COLUMN" in cli("explain", QUERY).stdout


def test_run_writes_what_came_of_it(cli: Run, write: Write) -> None:
    query = "SELECT a, b WHERE SELL AS a ; BUY AS b WITHIN 10 seconds"
    run = ("run", query, write(), "--time", "ts", "--json")
    fields = objects(cli(*run, "--limit-shown", 1))
    (summary,) = fields["queries"].values()
    assert fields["ok"] and fields["engine"] == "local" and fields["output"] is None
    assert (summary["matches"], summary["rows"], summary["events"]) == (2, 2, 5)
    ((first, last),) = summary["first"]
    assert (first["variables"], first["type"], last["price"]) == ("a", "SELL", 11.0)
    written = objects(cli(*run, "-o", "m.parquet"))
    assert written["output"] == "m.parquet" and Path("m.parquet").exists()
    several = objects(cli("run", "-q", query, "-q", "SELECT COUNT(*) WHERE BYU", *run[2:]))
    assert several["queries"]["q2"]["matches"] == 0
    assert several["queries"]["q2"]["warnings"] == [
        "no event has the type 'BYU'; did you mean 'BUY'?"
    ]


def test_an_error_of_a_run_is_an_object(cli: Run, write: Write) -> None:
    failed = objects(cli("run", QUERY, "nothing.parquet", "--json", "--time", "ts"), code=1)
    assert failed["error"]["kind"] == "DataError"
    both = objects(cli("run", QUERY, write(), "--json", "-o", "-"), code=1)
    assert "cannot both be written" in both["error"]["message"]


def test_status_without_a_pipeline_is_an_object_too(cli: Run) -> None:
    Path("live.toml").write_text('mode = "live"\ncheckpoint = "c"\n')
    failed = objects(cli("status", "live.toml", "--json"), code=1)
    assert not failed["ok"] and "no live pipeline has run" in failed["error"]["message"]


def test_bytes_are_written_as_base64(cli: Run) -> None:
    pq.write_table(pa.table({"type": ["A"], "x": [b"\xff\x00"]}), "b.parquet")
    cli("run", "SELECT a WHERE A AS a", "b.parquet", "-o", "m.json")
    assert json.loads(Path("m.json").read_text())["a"][0]["x"] == "/wA="
