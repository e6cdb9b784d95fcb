"""What is explained is what runs: with the same schema, the same plan, in every language."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.explain.document import section_text, sections_of

from .test_golden import CASES, Case

ROWS = "MATCH_RECOGNIZE (PARTITION BY name ORDER BY ts MEASURES count(*) AS n {})"
OTHERS = {
    "row_pattern": Case(
        ROWS.format("PATTERN (s d+ u+) DEFINE d AS price < PREV(price), u AS price > PREV(price)"),
        "match_recognize",
        cereus.Stream(type=None),
    ),
    "row_pattern_within": Case(
        ROWS.format(
            "PATTERN (a b+) WITHIN INTERVAL '1' MINUTE DEFINE b AS sum(b.volume) < a.volume"
        ),
        "match_recognize",
        cereus.Stream(type=None),
    ),
    "row_pattern_of_rows": Case(
        ROWS.format("PATTERN (a b) DEFINE a AS type = 'SELL', b AS volume > 10"),
        "match_recognize",
        cereus.Stream(type=None),
    ),
    "par_keyed": Case("repeat (BUY(volume > 10) ; SELL[sold])", "par", cereus.Stream(keys="name")),
    "algebra_keyed": Case("(BUY ; SELL(volume > 10))_{10s} - HALT", "algebra", CASES[
        "algebra_bounds"
    ].stream),
}  # fmt: skip
EVERY = {**{name: case for name, case in CASES.items() if case.schema is not None}, **OTHERS}


def compiled(case: Case) -> cereus.Query:
    return cereus.compile(case.text, dialect=case.dialect, stream=case.stream, **case.options)


def plans(query: cereus.Query, schema: pa.Schema) -> tuple[Any, Any]:
    """The plan that is explained, and the one of what runs the query."""
    of: Any = query.compiled
    running: Any = query.executor(schema)
    match query.dialect:
        case "ceql" | "sremo" | "sase":
            return of.plan(schema), running.plan
        case "par":
            return of.machine, running.machine
        case "algebra":
            return repr(of.program(schema)), repr(running.program)
    return of.path(of.bound(schema)), running.finder.path


@pytest.mark.parametrize("name", EVERY)
def test_what_is_explained_is_what_runs(name: str) -> None:
    case = EVERY[name]
    query = compiled(case)
    before = query.explain(case.schema)
    assert case.schema is not None and query.dialect == case.dialect
    explained, running = plans(query, case.schema)
    assert running == explained
    query.run(case.schema.empty_table())
    assert query.explain(case.schema) == before


@pytest.mark.parametrize("name", EVERY)
def test_every_part_can_be_shown_alone(name: str) -> None:
    case = EVERY[name]
    text = compiled(case).explain(case.schema)
    titles = {section.title for section in sections_of(text)}
    assert all(title in section_text(text, title) for title in titles)


@pytest.mark.parametrize("dialect", sorted({case.dialect for case in EVERY.values()}))
def test_what_is_remembered_is_told_in_bytes(dialect: str) -> None:
    cases = [case for case in EVERY.values() if case.dialect == dialect]
    texts = [compiled(case).explain(case.schema) for case in cases]
    assert all("bytes" in text or "none: nothing can match" in text for text in texts)


def test_every_language_is_explained() -> None:
    assert {case.dialect for case in EVERY.values()} == {
        "algebra", "ceql", "match_recognize", "par", "sase", "sremo",
    }  # fmt: skip
