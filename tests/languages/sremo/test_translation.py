"""CEQL as SREMO and SREMO as CEQL: the same matches, wherever the other language can say it."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random

import pytest
from typer.testing import CliRunner

import cereus
from cereus.clauses.tree import ParsedQuery
from cereus.cli.main import app
from cereus.errors import QueryError, RefusedError
from cereus.languages.ceql import print as print_ceql
from cereus.languages.ceql import text as ceql
from cereus.languages.ceql import tree as cel
from cereus.languages.sremo import text as sremo_text
from cereus.translate.to_ceql import as_ceql
from cereus.translate.to_sremo import as_sremo
from cereus.translate.translate import translated
from tests.languages.ceql import strategies as formulas
from tests.languages.ceql.correlated import correlated
from tests.volume import volume

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
        "any(any({A:} -> a, {B: a.x = x})+)\nPARTITION BY k",
    ),
    ("SELECT * WHERE A ; C WITHOUT B", "{A:} . !(skip* . {B:} . skip*) . {C:}"),
    (
        "SELECT * WHERE A ; (B ; C WITHOUT (A FILTER A[x > 1]))",
        "any({A:}, {B:} . !(skip* . {A: x > 1} . skip*) . {C:})",
    ),
    ("SELECT * WHERE A+ UNTIL B ; C", "any({A:} . (!(skip* . {B:} . skip*) . {A:})*, {C:})"),
    ("SELECT * WHERE A{2} ; B", "any({A:}, {A:}, {B:})"),
    ("SELECT * WHERE A:{2,} : B", "{A:} . {A:}+ . {B:}"),
    ("SELECT * WHERE A ; B?", "any({A:}, {B:}) | {A:}"),
    ("SELECT * WHERE A ; START(B)", "{A:} . {B:}"),
    ("SELECT STRICT * WHERE A ; B+", "{A:} . {B:}+"),
    ("SELECT NEXT * WHERE A : B", "{A:} . {B:}"),
    ("SELECT LAST * WHERE A ; B", "{A:} . !(skip* . {A:} . skip*) . {B:}"),
    ("SELECT * WHERE A ; (B UNLESS C) ; B", "any({A:} . !(skip* . {C:} . skip*) . {B:}, {B:})"),
    (
        "SELECT * WHERE A : (B UNLESS (B FILTER B[x > 1]))",
        "{A:} . {B: NOT CASE WHEN x > 1 THEN TRUE ELSE FALSE END}",
    ),
    ("SELECT * WHERE A : NOT(B FILTER B[x > 1]) : C", "{A:} . (skip & !{B: x > 1}) . {C:}"),
    ("SELECT * WHERE (A ; B) AND (A : B)", "any({A:}, {B:}) & {A:} . {B:}"),
    ("SELECT * WHERE PROJECT[b](A ; B AS b)", "any(skip{A:}, {B:})"),
    ("SELECT * WHERE A ; (B OR START(C))", "{A:} . (skip* . {B:} | {C:})"),
]


def found(text: str, dialect: str, stream: Events) -> list[list[int]]:
    matches = cereus.compile(text, dialect=dialect).run(table(stream))
    return sorted(matches.table["positions"].to_pylist())


@pytest.mark.parametrize(("text", "expected"), PAIRS)
def test_ceql_as_sremo(text: str, expected: str) -> None:
    assert sremo_text.to_text(as_sremo(ceql.parse(text))) == expected
    random = Random(text)
    for _ in range(volume(4, 20)):
        stream = events(random)
        assert found(text, "ceql", stream) == found(expected, "sremo", stream)


@pytest.mark.parametrize("after_an_event", [True, False])
def test_random_ceql_as_sremo_and_back(after_an_event: bool) -> None:
    """Any CEL formula; after an event, START and UNLESS can be said too."""
    random, stream_of = Random(3), cereus.Stream(time="t", unit="s")
    said: Counter[str] = Counter()
    while said["queries"] < 100:
        text = _random_ceql(random, after_an_event=after_an_event)
        try:
            there = sremo_text.to_text(as_sremo(ceql.parse(text)))
        except RefusedError:
            continue
        texts = {there: "sremo", text: "ceql"}
        with suppress(RefusedError):
            texts[ceql.to_text(as_ceql(sremo_text.parse(there)))] = "ceql"
        rows = formulas.table(formulas.events(random, random.randint(6, 10)))
        queries = [cereus.compile(t, dialect=d, stream=stream_of) for t, d in texts.items()]
        answers = [sorted(q.run(rows).table["positions"].to_pylist()) for q in queries]
        assert answers == [answers[0]] * len(answers), (texts, rows.to_pylist())
        said["queries"] += 1
        said["matching"] += bool(answers[0])
        said["back"] += len(texts) > 2
        said.update({type(n).__name__ for n in ceql.parse(text).formula.walk()})
    assert said["matching"] > 7 and said["back"] > 20
    operators = {"Sequence", "ContiguousSequence", "Iteration", "Or", "Filter", "As", "Select"}
    more = {"Unless", "Start"} if after_an_event else {"And", "Not", "Project"}
    assert operators | more <= set(said), said


def _random_ceql(random: Random, *, after_an_event: bool) -> str:
    while True:
        formula = formulas.formula(random, random.randint(1, 6))
        if after_an_event:
            rest = random.choice((cel.Start(formula), cel.Unless(formula, cel.Type("C")), formula))
            first = cel.Type(random.choice("AB"))
            formula = random.choice((cel.Sequence, cel.ContiguousSequence))(first, rest)
        if random.random() < 0.4:
            formula = correlated(random, formula)
        window = formulas.window(random) if random.random() < 0.3 else None
        text = ceql.to_text(ParsedQuery(formula, window=window))
        with suppress(QueryError):
            ceql.parse(text)
            return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{A:}*", "A:+"),
        ("{A:}? . {B:}", "A : B OR B"),
        ("any({A:} . (skip* . {B:})*, {C:})", "A ; B+ ; C OR A ; C"),
        ("{A:} . skip{B:} . {C:}", "PROJECT[m](A AS m : B : C AS m)"),
        ("next({A:}, {B:})", "A : NOT(B):+ : B OR A : B"),
        ("any(({A:} -> r . {B: x = r.x})+)", "(A AS r : B AS e1 FILTER e1.x = r.x)+"),
        ("{A:} -> r . {B: x = r.x OR w < r.w}", "A AS r : B AS e1 FILTER e1.x = r.x OR e1.w < r.w"),
        (
            "any({A:}, {B:}) & {}+",
            "PROJECT[m](PROJECT[m](A AS m ; B AS m) AND PROJECT[m](* AS m:+))",
        ),
        ("({A:} . {B:})[1..4]", "A : B"),
    ],
)
def test_sremo_as_ceql(text: str, expected: str) -> None:
    formula = print_ceql.formula_text(as_ceql(sremo_text.parse(text)).formula)
    assert formula == expected
    assert ceql.parse(f"SELECT * WHERE {formula}")


def test_sremo_as_ceql_where_it_can_be_said() -> None:
    random, said = Random(5), 0
    for _ in range(volume(100, 600)):
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
    assert said > volume(100, 600) // 10


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
        "SELECT COUNT(*) WHERE A",
        "SELECT NEXT * WHERE A ; B",
        "SELECT MAX * WHERE A+",
        "SELECT * WHERE A UNLESS B",
        "SELECT * WHERE START(A) ; B",
        "SELECT * WHERE A ; (B UNLESS (C ; A))",
        "SELECT * WHERE A ALL B",
        "SELECT * WHERE A : NOT(B)",
        "SELECT * WHERE A AS a AND A AS b",
        "SELECT * WHERE A+ AS a FILTER count(a) > 2",
        "SELECT * WHERE A+ AS a ; B FILTER a.x < B.x",
        "SELECT * WHERE (A AS a OR B AS b) ; C FILTER a.x < C.x",
    ],
)
def test_what_sremo_cannot_say(text: str) -> None:
    with pytest.raises(RefusedError):
        as_sremo(ceql.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "!{A:}",
        "({A:} -> r)+ . {B: x = r.x}",
        "{A: NOT x = r.x} -> r",
        "DETECT {A:}",
        "{A:} . ({B:} . {C:})[1..2]",
        "next({A:} -> r, {B: x = r.x})",
        "({A:} | skip* . {B:})+",
        "({A:} | skip{B:})+",
    ],
)
def test_what_ceql_cannot_say(text: str) -> None:
    with pytest.raises(RefusedError):
        as_ceql(sremo_text.parse(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" . ".join(["{A:}?", "{B:}?"] * 5), "more than 64 patterns"),
        (f"any({', '.join(['{A:}'] * 600)})", "nested too deeply"),
    ],
)
def test_what_would_be_too_long(text: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        translated(cereus.compile(text, dialect="sremo").compiled, "ceql")


def test_parts_that_optional_parts_share_are_not_counted_without_end() -> None:
    """Written out, each of 300 optional parts doubles what comes before it."""
    text = "SELECT * WHERE " + " ; ".join(f"T{n}?" for n in range(300))
    with pytest.raises(RefusedError, match="more than 500 parts"):
        translated(cereus.compile(text).compiled, "sremo")


def test_explain_as_another_language() -> None:
    text = "SELECT * WHERE SELL AS a ; BUY AS b FILTER a.price < b.price WITHIN 10 seconds"
    there = CliRunner().invoke(app, ["explain", text, "--as", "sremo"])
    assert there.stdout == "any({SELL:} -> a, {BUY: a.price < price})\nWITHIN 10 seconds\n"
    back = CliRunner().invoke(app, ["explain", there.stdout, "--dialect", "sremo", "--as", "ceql"])
    assert "FILTER a.price < e1.price" in back.output
    refused = CliRunner().invoke(app, ["explain", "SELECT * WHERE A UNLESS B", "--as", "sremo"])
    assert refused.exit_code != 0
