"""Texts of several rows in DEFINE are compiled, and mean what the reference says."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from cereus.languages.match_recognize.binding import bound
from cereus.languages.match_recognize.match import finding
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.runs import find
from cereus.languages.match_recognize.text import parse
from tests.languages.match_recognize.test_random import comparable, emitted, expected
from tests.volume import volume

TEXTS = (
    "string_agg(y, ',')",
    "string_agg(a.y)",
    "listagg(u.y, '%')",
    "string_agg(CLASSIFIER(), '')",
    "array_join(array_agg(y), '-')",
    "array_join(array_agg(b.y), '', '?')",
    "string_agg(lower(CLASSIFIER(u)) || u.y, '_')",
    "array_join(array_agg(CLASSIFIER()), '-')",
)
ASKED = ("{} = 'p'", "{} <> 'p,q'", "{} LIKE 'p%'", "{} LIKE '%q%_p'", "NOT ({} LIKE '%pq')",
         "{} LIKE '%%'", "{} = ''", "{} IN ('pp', 'p-', 'AB', 'A-B')", "{} LIKE 'p\\%_%'",
         "{} IS NOT NULL AND {} LIKE '_%b_'", "{} LIKE '%?%' OR x > 2")  # fmt: skip
PATTERNS = ("a+ b c?", "(a | b)+ c", "a b* c", "a{2,4} b? c", "(a b?)+ c", "a b*? c+ b")


def clause(draw: Random) -> str:
    conditions = [
        f"{variable} AS {draw.choice(ASKED).replace('{}', draw.choice(TEXTS))}"
        for variable in draw.sample("abc", draw.randint(1, 2))
    ]
    skip = draw.choice(("", "AFTER MATCH SKIP TO NEXT ROW"))
    define = ", ".join(conditions)
    return f"""MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f, array_agg(CLASSIFIER()) AS v
        {skip} PATTERN ({draw.choice(PATTERNS)}) SUBSET u = (a, b) DEFINE {define})"""


def drawn_table(draw: Random) -> pa.Table:
    rows = draw.randint(0, 11)
    texts = [draw.choice(("p", "p", "q", "pq", "", "é_", None)) for _ in range(rows)]
    columns = {"ts": range(rows), "x": [draw.randrange(4) for _ in range(rows)], "y": texts}
    schema = pa.schema([("ts", pa.int64()), ("x", pa.int64()), ("y", pa.string())])
    return pa.table({name: list(column) for name, column in columns.items()}, schema)


def test_texts_are_what_the_reference_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(volume(20, 2_000)):
        draw = Random(seed)
        text, table = clause(draw), drawn_table(draw)
        if seed % 2:  # leaps from the first row on
            monkeypatch.setattr(find, "FREE_WORK", 0)
            monkeypatch.setattr(find, "WORK_PER_ROW", 0)
        over, states = bound(parse(text), table.schema), automaton(parse(text).pattern)
        assert finding.path_of(over, states) is not finding.Path.SEARCH, text
        assert comparable(emitted(text, table)) == comparable(expected(text, table)), text
        monkeypatch.undo()


def test_texts_of_many_values_are_searched() -> None:
    """States are worked out for every value: where they are too many, the answer is the same."""
    rows = 17_000
    table = pa.table({"ts": range(rows), "y": [f"v{n}" for n in range(rows)]})
    text = """MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(ts) AS f PATTERN (a{2} b)
        DEFINE b AS string_agg(a.y, ',') = 'v7000,v7001')"""
    assert emitted(text, table) == [{"f": 7000}]
