"""Explanations for programs: what a person reads, in parts, by a schema."""

from __future__ import annotations

import json

import pytest

import cereus
from cereus.errors import CereusError
from cereus.explain.document import json_schema, section_text, sections_of

from .test_golden import CASES


@pytest.mark.parametrize("name", CASES)
def test_every_explanation_fits_the_schema_and_loses_no_line(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    case = CASES[name]
    query = cereus.compile(case.text, dialect=case.dialect, stream=case.stream, **case.options)
    document = query.explained(case.schema)
    jsonschema.validate(json.loads(json.dumps(document)), json_schema())
    written = [line.strip() for line in query.explain(case.schema).splitlines() if line.strip()]
    headings = [line for line in written if line.startswith("──")]
    read = [x.strip() for s in document["sections"] for x in (s["title"], *s["lines"])]
    assert len(read) + len(headings) == len(written)
    assert set(read) <= set(written)


def test_one_stage() -> None:
    query = cereus.compile("SELECT * WHERE A ; B WITHIN 5 EVENTS")
    assert section_text(query.explain(), "tests").splitlines()[0] == "tests"
    with pytest.raises(CereusError, match="no part 'testss'"):
        section_text(query.explain(), "testss")


def test_parts_of_several_queries_say_which() -> None:
    text = CASES["sase_queries_4_and_5"].text
    sections = sections_of(cereus.compile(text, dialect="sase").explain())
    assert len({each.of for each in sections}) > 2


def test_it_stops_at_a_stage() -> None:
    query = cereus.compile("SELECT * WHERE A ; B FILTER A[x > 1]")
    stages = section_text(query.explain(), "rewrite").splitlines()
    assert [line.split()[0] for line in stages] == ["stages", "lang", "rewrite"]
