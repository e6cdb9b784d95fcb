"""Explanations that a release has written as JSON: what reads them goes on reading them.

    python -m tests.explain.test_released    write tests/data/plans anew

They are written anew only when the version of the schema is raised; those of the old version move
to a folder of their own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.explain.document import json_schema

DATA = Path(__file__).parents[1] / "data" / "plans"
STREAM = cereus.Stream(time="ts")
SCHEMA = pa.schema(
    {"type": pa.string(), "ts": pa.timestamp("us"), "k": pa.string(), "price": pa.float64()}
)
QUERIES = {
    "ceql": "SELECT a, b WHERE A AS a ; B+ AS b FILTER a.price < b.price WITHIN 9 seconds",
    "sremo": "{A: price > 1} -> r . SKIP* . {B: price > r.price} WITHIN 9 seconds",
    "sase": "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match(a, b[], c) "
    "{ [k] AND b[i].price >= b[i-1].price } WITHIN 9 seconds RETURN sum(b[].price)",
    "par": "repeat (A(price > 1)[X] ; try B[Y] unless C)",
    "algebra": "((A(price > 1) ; B) - C)_9s",
    "match_recognize": "MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES sum(a.price) AS m "
    "PATTERN (a+ b) DEFINE b AS price > PREV(price))",
}


def explained(dialect: str) -> dict[str, Any]:
    return cereus.compile(QUERIES[dialect], dialect=dialect, stream=STREAM).explained(SCHEMA)


def test_every_language_has_a_released_plan() -> None:
    assert {path.stem for path in DATA.glob("*.json")} == set(QUERIES)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_a_released_plan_is_read(path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    released = json.loads(path.read_text())
    jsonschema.validate(released, json_schema())
    now = explained(path.stem)
    assert {key: now[key] for key in ("language", "query", "keys")} == {
        key: released[key] for key in ("language", "query", "keys")
    }
    assert set(released) <= set(now)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for dialect in QUERIES:
        document = json.dumps(explained(dialect), indent=1, ensure_ascii=False)
        (DATA / f"{dialect}.json").write_text(document + "\n")
