"""CEQL as SREMO and SREMO as CEQL: the same matches, wherever the other language can say it."""

from __future__ import annotations

from random import Random

import pytest
from typer.testing import CliRunner

import cereus
from cereus.cli.main import app
from cereus.errors import RefusedError
from cereus.lang import ceql, sremo_text
from cereus.plan.as_ceql import as_ceql
from cereus.plan.as_sremo import as_sremo

from .random_queries import SCHEMA, Events, events, query, table
from .stock_patterns import CEQL, SREMO, with_window

PAIRS = [
    ("SELECT * WHERE A ; B", "any({A:}, {B:})"),
    ("SELECT * WHERE A : B", "{A:} . {B:}"),
    ("SELECT * WHERE A ; B+ ; C", "any({A:}, any({B:}+), {C:})"),
    ("SELECT * WHERE (A OR B):+", "({A:} | {B:})+"),
    ("SELECT * WHERE A AS a ; B FILTER a[x > 1] AND B[w < 2]", "any({A: x > 1}, {B: w < 2})"),
    (
        "SELECT * WHERE A AS a ; B AS b ; C AS c FILTER a.x < c.x WITHIN 5 EVENTS",
        "any({A:} -> a, {B:}, {C: a.x < x})\nWITHIN 5 EVENTS",
    ),
    (
        "SELECT * WHERE (A AS a ; B AS b FILTER a.x = b.x)+ PARTITION BY k",
        "any(any({A:} -> a, {B: a.x = x})+)\nPARTITION BY [k]",
    ),
]


def found(text: str, dialect: str, stream: Events) -> list[list[int]]:
    matches = cereus.compile(text, dialect=dialect).run(table(stream))
    return sorted(matches.table["positions"].to_pylist())


@pytest.mark.parametrize(("text", "expected"), PAIRS)
def test_ceql_as_sremo(text: str, expected: str) -> None:
    assert sremo_text.to_text(as_sremo(ceql.parse(text))) == expected
    random = Random(text)
    for _ in range(20):
        stream = events(random)
        assert found(text, "ceql", stream) == found(expected, "sremo", stream)


def test_sremo_as_ceql_where_it_can_be_said() -> None:
    random, said = Random(5), 0
    for _ in range(1_500):
        asked = query(random, 2, simple=True)
        try:
            other = ceql.to_text(as_ceql(asked))
        except RefusedError:
            continue
        stream, text = events(random), sremo_text.to_text(asked)
        stream_of = cereus.Stream(time="t", unit="s")
        rows = [
            sorted(q.run(table(stream)).table["positions"].to_pylist())
            for q in (
                cereus.compile(text, dialect="sremo", stream=stream_of),
                cereus.compile(other, stream=stream_of, schema=SCHEMA),
            )
        ]
        assert rows[0] == rows[1], (text, other, stream)
        said += 1
    assert said > 100


@pytest.mark.parametrize("name", CEQL)
def test_stock_patterns_there_and_back(name: str) -> None:
    there = as_sremo(ceql.parse(with_window(CEQL[name], 500)))
    back = as_sremo(as_ceql(there))
    assert sremo_text.to_text(back) == sremo_text.to_text(there)
    as_ceql(sremo_text.parse(with_window(SREMO[name], 500)))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a WHERE A AS a",
        "SELECT NEXT * WHERE A ; B",
        "SELECT * WHERE A UNLESS B",
        "SELECT * WHERE A+ AS a ; B FILTER a.x < B.x",
        "SELECT * WHERE (A AS a OR B AS b) ; C FILTER a.x < C.x",
    ],
)
def test_what_sremo_cannot_say(text: str) -> None:
    with pytest.raises(RefusedError):
        as_sremo(ceql.parse(text))


@pytest.mark.parametrize(
    "text",
    ["{A:}*", "!{A:}", "({A:} -> r)+ . {B: x = r.x}", "{A: NOT x = r.x} -> r", "DETECT {A:}"],
)
def test_what_ceql_cannot_say(text: str) -> None:
    with pytest.raises(RefusedError):
        as_ceql(sremo_text.parse(text))


def test_explain_as_another_language() -> None:
    text = "SELECT * WHERE SELL AS a ; BUY AS b FILTER a.price < b.price WITHIN 10 seconds"
    there = CliRunner().invoke(app, ["explain", text, "--as", "sremo"])
    assert there.output == "any({SELL:} -> a, {BUY: a.price < price})\nWITHIN 10 seconds\n"
    back = CliRunner().invoke(app, ["explain", there.output, "--dialect", "sremo", "--as", "ceql"])
    assert "FILTER a.price < e1.price" in back.output
    refused = CliRunner().invoke(app, ["explain", "SELECT * WHERE A UNLESS B", "--as", "sremo"])
    assert refused.exit_code != 0
