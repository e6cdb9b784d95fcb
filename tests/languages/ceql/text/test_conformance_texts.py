"""The queries of CORE's own tests parse unchanged and survive printing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cereus.languages.ceql.text import parse, to_text

CASES = Path(__file__).parents[5] / "shared" / "conformance" / "ceql.jsonl"


@pytest.mark.skipif(not CASES.exists(), reason="the conformance cases are not beside the project")
def test_every_query_of_core_parses_and_prints() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert cases
    for case in cases:
        query = parse(case["query"])
        assert parse(to_text(query)) == query, case["id"]
