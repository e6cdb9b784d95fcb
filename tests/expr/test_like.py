r"""LIKE is SQL's in every language, locally and in states that remember values: `%`, `_`, an
escape, and nothing else is special."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.expr.python.text_matching import extracted, has_match, is_like

WORDS = ["a.exe", "aXexe", "[", "50%", "50x", r"C:\temp", "C:/temp", "A.EXE", "a(b+", "ab", None]
CASES = {
    "LIKE '%.exe'": ["a.exe"],
    "LIKE '['": ["["],
    "LIKE 'a(b+'": ["a(b+"],
    "LIKE 'a__exe'": [],
    "LIKE 'a_%e'": ["a.exe", "aXexe"],
    r"LIKE '50\%'": ["50%"],
    "LIKE '50!%' ESCAPE '!'": ["50%"],
    "LIKE '50%' ESCAPE '!'": ["50%", "50x"],
    r"LIKE '%:\temp' ESCAPE ''": [r"C:\temp"],
    "ILIKE '%.Exe'": ["a.exe", "A.EXE"],
    "ILIKE 'c:/%'": ["C:/temp"],
    "NOT ILIKE '%E%'": ["[", "50%", "50x", "a(b+", "ab"],
    "REGEXP '^a.exe$'": ["a.exe", "aXexe"],
}
TEXTS = {
    "ceql": "SELECT * WHERE A AS a FILTER a[s {}]",
    "sremo": "{{A: s {}}}",
    "sase": "PATTERN SEQ(A a) WHERE a.s {}",
    "algebra": "A(s {})",
    "match_recognize": """MATCH_RECOGNIZE (ORDER BY ts MEASURES a.ts AS row
        PATTERN (a) DEFINE a AS s {})""",
}


def rows(found: list[dict[str, Any]]) -> list[int]:
    return sorted(match["row"] if "row" in match else match["start"] for match in found)


@pytest.mark.parametrize("dialect", TEXTS)
@pytest.mark.parametrize("condition", CASES)
def test_like_is_sqls_in_every_language(dialect: str, condition: str) -> None:
    table = pa.table({"type": ["A"] * len(WORDS), "ts": range(len(WORDS)), "s": WORDS})
    stream = cereus.Stream(time="ts", unit="s")
    text = TEXTS[dialect].format(condition)
    found = cereus.compile(text, dialect=dialect, stream=stream).run(table)
    assert rows(list(found)) == [WORDS.index(word) for word in CASES[condition]]


def test_like_in_par() -> None:
    table = pa.table({"type": ["A"] * 2, "s": ["aXexe", "a.exe"]})
    query = cereus.compile("repeat (A(s LIKE '%.exe')[hit] | *)", dialect="par")
    assert len(query.run(table)) == 1


def test_like_between_events_in_states_that_remember_values() -> None:
    table = pa.table({"type": ["A", "B"], "s": ["50", "%"]})
    query = cereus.compile(
        "SELECT * WHERE (A AS a ; B AS b) FILTER a.s || b.s LIKE '50!%' ESCAPE '!'"
    )
    assert len(query.run(table)) == 1


def test_matching_a_single_text_does_not_go_back() -> None:
    """What events are compared by runs in Python: neither many `%`, nor repetitions in repetitions,
    take longer than the text is long."""
    text = "a" * 60
    assert not is_like("%a" * 30 + "%b", text)
    assert is_like("%a" * 30 + "%", text)
    assert not has_match("(a*)*b$", text)
    assert extracted("((a*)*)b", text) is None
