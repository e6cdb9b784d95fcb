"""Counts of results that Spark makes are those of a run in this process, however large they are."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

import cereus
from cereus.spark.counting import counts_of
from cereus.spark.pipeline.run.metrics import Metrics


@pytest.mark.parametrize(
    ("total", "matches", "shown", "written"),
    [
        (None, 0, "0 matches counted in 2 rows", "0"),
        (5.0, 5, "5 matches counted in 2 rows", "5"),
        (2.0**80, 2.0**80, "1.20893e+24 matches counted in 2 rows", "1.2089258196146292e+24"),
        (float("inf"), float("inf"), "inf matches counted in 2 rows", '"Infinity"'),
    ],
)
def test_counts_of_any_size(total: float | None, matches: float, shown: str, written: str) -> None:
    query = cereus.compile("SELECT COUNT(*) WHERE A+ WITHIN 1 hour", stream=cereus.Stream(time="t"))
    sums: Any = SimpleNamespace(get={" rows": 2, " counted": total})
    counts = counts_of(sums, query.compiled)
    assert (counts.matches, str(counts)) == (matches, shown)
    text = Metrics("q", "now", matches=counts.matches).as_json()
    assert f'"matches": {written}' in text
    assert json.loads(text, parse_constant=pytest.fail)["name"] == "q"
