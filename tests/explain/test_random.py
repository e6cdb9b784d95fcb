"""Explanations of random queries in every language: the plan that runs is the one that is
explained, every stage can be stopped at, and programs can read it all."""

from __future__ import annotations

import json
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from cereus import Stream
from cereus.errors import CereusError
from cereus.explain.document import json_schema, section_text, sections_of
from cereus.expr.text import parse_condition
from cereus.languages.algebra.tree import Primitive
from tests.languages import streams
from tests.languages.algebra import drawing as algebra
from tests.languages.ceql import strategies as ceql
from tests.languages.match_recognize import random_clauses as clauses
from tests.languages.par import random_programs as par
from tests.languages.sase import strategies as sase
from tests.languages.sremo import random_queries as sremo
from tests.volume import volume

from .test_what_runs import plans

jsonschema = pytest.importorskip("jsonschema")
CASES = range(volume(15, 75))


def check(query: cereus.Query, schema: pa.Schema) -> None:
    try:
        before = query.explain(schema)
    except CereusError:
        return  # a query that these events do not allow
    explained, running = plans(query, schema)
    assert running == explained
    query.run(schema.empty_table())
    assert query.explain(schema) == before
    document = json.loads(json.dumps(query.explained(schema)))
    jsonschema.validate(document, json_schema())
    for section in sections_of(before):
        assert section.title in section_text(before, section.title)
        if section.title == "stages":
            for line in section.lines:
                stage = line.split(" ")[0]
                assert not stage or stage in section_text(before, stage)


@pytest.mark.parametrize("seed", CASES)
def test_ceql(seed: int) -> None:
    case = ceql.case(Random(seed), streams=1, largest=5)
    check(cereus.compile(case.query, stream=case.stream), ceql.table(case.streams[0]).schema)


@pytest.mark.parametrize("seed", CASES)
def test_sase(seed: int) -> None:
    draw = Random(seed)
    text, stream = sase.query(draw), Stream(type="type", time="time")
    query = cereus.compile(text, dialect="sase", stream=stream, aggregates=sase.AGGREGATES)
    check(query, sase.table(sase.events(draw)).schema)


@pytest.mark.parametrize("seed", CASES)
def test_sremo(seed: int) -> None:
    draw = Random(seed)
    query = cereus.compile(sremo.query(draw, 2), dialect="sremo", stream=Stream(time="t", unit="s"))
    check(query, sremo.table(sremo.events(draw)).schema)


@pytest.mark.parametrize("seed", CASES)
def test_the_algebra(seed: int) -> None:
    draw = Random(seed)
    primitives = [Primitive(name, parse_condition(f"v > {draw.randrange(3)}")) for name in "AB"]
    tree = algebra.expression(draw, 3, primitives)
    schema = pa.schema({"type": pa.string(), "v": pa.int64(), "t": pa.int64()})
    check(cereus.compile(tree, dialect="algebra", stream=Stream(time="t")), schema)


@settings(max_examples=volume(15, 75), deadline=None)
@given(st.data())
def test_par(data: st.DataObject) -> None:
    program = data.draw(par.programs(leaves=4))
    table = streams.table(data.draw(streams.rows("ab", most=2)))
    check(cereus.compile(program, dialect="par", stream=Stream(time="t")), table.schema)


@settings(max_examples=volume(15, 75), deadline=None)
@given(st.data())
def test_match_recognize(data: st.DataObject) -> None:
    text = data.draw(clauses.clauses(clauses.OF_SLOTS))
    query = cereus.compile(text, dialect="match_recognize", stream=Stream(type=None))
    check(query, data.draw(clauses.tables()).schema)
