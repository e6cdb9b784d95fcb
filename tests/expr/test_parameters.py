"""`:name` in a text stands for a value: in every language, wherever a literal can stand."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cereus
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.expr.text import parse_condition
from cereus.languages.algebra.text import parse as algebra
from cereus.languages.algebra.text import to_text as algebra_text
from cereus.languages.ceql.text import parse as ceql
from cereus.languages.ceql.text import to_text as ceql_text
from cereus.languages.par.text import parse as par
from cereus.languages.par.text import to_text as par_text
from cereus.languages.sase.text import parse as sase
from cereus.languages.sase.text import to_text as sase_text
from cereus.languages.sremo.text import parse as sremo
from cereus.languages.sremo.text import to_text as sremo_text
from cereus.syntax.parameters import for_text

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "params", "same"),
    [
        ("name = :s", {"s": "IN'TC"}, "name = 'IN''TC'"),
        ("x > :limit AND y < -:limit", {"limit": 5}, "x > 5 AND y < -5"),
        ("x = :x", {"x": None}, "x = NULL"),
        ("x BETWEEN :a AND :b", {"a": 1, "b": 2.5}, "x BETWEEN 1 AND 2.5"),
        ("t > :t", {"t": datetime(2024, 1, 31)}, "t > TIMESTAMP '2024-01-31'"),
        ("t > :t", {"t": date(2024, 1, 31)}, "t > TIMESTAMP '2024-01-31'"),
        ("t - u > :gap", {"gap": HOUR}, "t - u > INTERVAL '1' HOUR"),
        ("b = :b", {"b": True}, "b = TRUE"),
        ("x = :d", {"d": Decimal("7.00")}, "x = 7"),
        ("x = :d", {"d": Decimal("0.5")}, "x = 0.5"),
        ("x = :n", {"n": np.int64(3)}, "x = 3"),
        ("name IN :names", {"names": ["a", "b"]}, "name IN ('a', 'b')"),
        ("name NOT IN :names", {"names": ("a",)}, "name NOT IN ('a')"),
        ("x IN (1, :more, :last)", {"more": [2, 3], "last": 4}, "x IN (1, 2, 3, 4)"),
        ("is_in(x, :more)", {"more": [2, 3]}, "x IN (2, 3)"),
        ("is_in(x, 1, 2)", {}, "x IN (1, 2)"),
        ("x IN :none", {"none": []}, "x IS NULL AND x IS NOT NULL"),
        ("s LIKE :p OR s REGEXP :q", {"p": "a%", "q": "^b"}, "s LIKE 'a%' OR s REGEXP '^b'"),
        ("round(x, :digits) = 1", {"digits": 2}, "round(x, 2) = 1"),
        ("x IN {:a..:b}", {"a": 1, "b": 5}, "x IN {1..5}"),
    ],
)  # fmt: skip
def test_a_parameter_is_the_literal_of_its_value(
    text: str, params: dict[str, Any], same: str
) -> None:
    assert parse_condition(text, params) == parse_condition(same)


@given(st.text())
def test_no_text_can_be_read_as_anything_else(value: str) -> None:
    tree = parse_condition("name = :it", {"it": value})
    assert tree == ex.Comparison("=", ex.Attribute(("name",)), ex.Literal(value))
    assert parse_condition(condition_text(tree)) == tree


LANGUAGES: list[tuple[Callable[..., Any], Callable[..., str], str, str, dict[str, Any]]] = [
    (
        ceql,
        ceql_text,
        "SELECT * FROM S WHERE A AS a :B AS b FILTER a[x > :x] WITHIN :w seconds LIMIT :n",
        "SELECT * FROM S WHERE A AS a : B AS b FILTER a[x > 1] WITHIN 9 seconds LIMIT 3",
        {"x": 1, "w": 9, "n": 3},
    ),
    (
        ceql,
        ceql_text,
        "SELECT * FROM S WHERE A :B:C:+ :D WITHIN :w",
        "SELECT * FROM S WHERE A : B : C :+ : D WITHIN 1 hour",
        {"w": HOUR},
    ),
    (
        ceql,
        ceql_text,
        "SELECT * FROM S WHERE (A AS a FILTER a.x IN :x):B WITHIN :w EVENTS",
        "SELECT * FROM S WHERE (A AS a FILTER a.x IN ('q')) : B WITHIN 7 EVENTS",
        {"w": 7, "x": ["q"]},
    ),
    (
        ceql,
        ceql_text,
        "SELECT * FROM S WHERE A ; B WITHIN :w [seq]",
        "SELECT * FROM S WHERE A ; B WITHIN 1.5 [seq]",
        {"w": 1.5},
    ),
    (
        sremo,
        sremo_text,
        "any({A :x > :v} -> r, {B: :v < x}, {C::v < x}, {:v < x}, {D: y IN :l})[1..:n]",
        "any({A: x > 1} -> r, {B: 1 < x}, {C: 1 < x}, {1 < x}, {D: y IN (2)})[1..4]",
        {"v": 1, "n": 4, "l": [2]},
    ),
    (
        sremo,
        sremo_text,
        "({A:} . {B:}) WITHIN :w",
        "({A:} . {B:}) WITHIN 1 hour",
        {"w": HOUR},
    ),
    (
        lambda text, params=None: sase(text, params=params),
        sase_text,
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) "
        "{ a.x = :v AND b[i].name IN :l } WITHIN :w hours RETURN a.x + :v",
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) "
        "{ a.x = 1 AND b[i].name IN ('k') } WITHIN 2 hours RETURN a.x + 1",
        {"w": 2, "v": 1, "l": ["k"]},
    ),
    (par, par_text, "repeat (A(x > :v) ; B)", "repeat (A(x > 5) ; B)", {"v": 5}),
    (
        algebra,
        algebra_text,
        "(A ; B(x IN :v))_:tau - C _:tau",
        "(A ; B(x IN (5)))_1h - C _1h",
        {"v": [5], "tau": HOUR},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("parse", "to_text", "text", "same", "params"), LANGUAGES)
def test_every_language_takes_parameters(
    parse: Callable[..., Any],
    to_text: Callable[..., str],
    text: str,
    same: str,
    params: dict[str, Any],
) -> None:
    assert to_text(parse(text, params)) == to_text(parse(same))


ERRORS = {
    "unknown": (
        "name = :simbol",
        {"symbol": 5},
        "the parameter :simbol has no value\n1 | name = :simbol\n           ^^^^^^^\n"
        "hint: did you mean 'symbol'?",
    ),
    "not given": (
        "name = :symbol",
        None,
        "the parameter :symbol has no value\n1 | name = :symbol\n           ^^^^^^^\n"
        'hint: give it: params={"symbol": …}',
    ),
    "unused": (
        "name = 5",
        {"symbol": 5},
        "the text has no parameter :symbol\nhint: write :symbol for its value",
    ),
    "a list for a value": (
        "name = :names",
        {"names": ["a"]},
        ":names is a list, and one value is needed here\n1 | name = :names\n           ^^^^^^\n"
        "hint: lists stand after IN: x IN :names",
    ),
    "a value for a list": (
        "name IN :names",
        {"names": "a"},
        ":names is one value, and IN takes a list\n1 | name IN :names\n            ^^^^^^\n"
        "hint: give a list, or write = :names",
    ),
    "no text": (
        "name LIKE :p",
        {"p": 5},
        ":p is no text\n1 | name LIKE :p\n              ^^\nhint: give the parameter a text",
    ),
    "a list in a list": ("x IN :x", {"x": [[1]]}, None),
    "an object": ("x = :x", {"x": object()}, None),
    "not finite": ("x = :x", {"x": math.nan}, None),
    "too large": ("x = :x", {"x": 2**63}, None),
    "not exact": ("x = :x", {"x": Decimal("0.1")}, None),
    "an empty is_in": ("is_in(x)", None, None),
    "a column in is_in": ("is_in(x, y)", None, None),
    "a list for a function": ("lower(:x) = 'a'", {"x": ["a"]}, None),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_show_the_place(name: str) -> None:
    text, params, message = ERRORS[name]
    with pytest.raises(CereusError) as caught:
        parse_condition(text, params)
    assert message is None or str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("SELECT * FROM :s WHERE A", {"s": "S"}),
        ("SELECT * FROM S WHERE :a", {"a": "A"}),
        ("SELECT * FROM S WHERE A WITHIN :w", {"w": 5}),
        ("SELECT * FROM S WHERE A WITHIN :w hours", {"w": HOUR}),
        ("SELECT * FROM S WHERE A WITHIN :w hours", {"w": "x"}),
        ("SELECT * FROM S WHERE A WITHIN :w hours", {"w": True}),
        ("SELECT * FROM S WHERE A WITHIN :w", {"w": -HOUR}),
        ("SELECT * FROM S WHERE A LIMIT :n", {"n": 1.5}),
        ("SELECT * FROM S WHERE A LIMIT :n", {"n": -1}),
    ],
)
def test_a_parameter_is_refused_where_its_value_does_not_fit(
    text: str, params: dict[str, Any]
) -> None:
    with pytest.raises(CereusError):
        ceql(text, params)


def test_parameters_of_compile_decide_the_matches() -> None:
    events = pa.table({"type": ["BUY"] * 3, "name": ["INTC", "IBM", None], "price": [1, 5, 9]})
    text = "SELECT * FROM S WHERE BUY AS b FILTER b[name = :symbol OR price > :limit]"
    query = cereus.compile(text, params={"symbol": "INTC", "limit": 5})
    assert [row["positions"][0] for row in query.run(events)] == [0, 2]


def test_times_of_parameters_are_instants() -> None:
    with_zone = datetime(2024, 1, 1, tzinfo=UTC)
    assert parse_condition("t = :t", {"t": with_zone}).right.value == with_zone  # type: ignore[attr-defined]


def test_a_type_after_a_colon_is_no_parameter_that_another_query_has() -> None:
    texts = ["SELECT * FROM S WHERE A AS a FILTER a[v > :B]", "SELECT * FROM S WHERE A:B"]
    events = pa.table({"type": ["A", "B", "A"], "v": [1, 2, 3]})
    found = cereus.compile_many(texts, params={"B": 1}).run(events)
    assert [len(matches) for matches in found.values()] == [1, 1]


def test_several_queries_share_their_parameters() -> None:
    texts = {
        "a": "SELECT * FROM S WHERE A AS a FILTER a[x = :x] -- not :z",
        "b": "SELECT * FROM S WHERE B AS b FILTER b[x = :y AND n = ':z']",
    }
    assert len(cereus.compile_many(texts, params={"x": 1, "y": 2}).queries) == 2
    with pytest.raises(CereusError, match="no text has the parameter :z"):
        cereus.compile_many(texts, params={"x": 1, "y": 2, "z": 3})
    assert for_text({"x": 1, "y": 2, "z": 3}, texts["b"]) == {"y": 2}


@pytest.mark.parametrize(
    "value",
    [
        10**5000,
        [1, 10**5000],
        {-(10**5000)},
        Decimal("1e999999999"),
        Decimal("-1e999999999"),
        Decimal("1e-999999999"),
        Decimal("0." + "1" * 100_000),
        Decimal("sNaN"),
        timedelta.max,
        timedelta.min,
        "\ud800",
        ["a", "b\udfff"],
        np.datetime64("2024-01-01T00:00:00.000000001"),
        np.datetime64("NaT"),
        np.timedelta64(10**5, "Y"),
        pd.NaT,
    ],
    ids=range(16),
)
def test_a_value_that_no_literal_has_is_refused_by_the_name_of_its_parameter(value: Any) -> None:
    with pytest.raises(CereusError, match="the parameter :x") as caught:
        parse_condition("a = :x", {"x": value})
    assert len(str(caught.value)) < 2000


def test_times_of_numpy_are_times() -> None:
    moment, length = np.datetime64("2024-01-31", "ns"), np.timedelta64(3_600_000_000_000, "ns")
    same = parse_condition("t > TIMESTAMP '2024-01-31' AND u > INTERVAL '1' HOUR")
    assert parse_condition("t > :t AND u > :u", {"t": moment, "u": length}) == same


@pytest.mark.parametrize("text", ["/*" * 250_000, "'" * 500_001, "'a'" * 160_000, "--" * 250_000])
def test_the_parameters_of_a_long_text_are_found_in_one_pass(text: str) -> None:
    assert for_text({"x": 1}, text) == {}


@pytest.mark.parametrize("given", [{1: 2}, {1: 2, "a": 3}, [1], "x"])
def test_parameters_without_names_are_refused(given: Any) -> None:
    with pytest.raises(CereusError, match="parameter"):
        parse_condition("a = 1", given)


def test_a_text_with_half_a_letter_is_refused() -> None:
    with pytest.raises(CereusError, match="half a letter"):
        parse_condition("a = '\ud800'")
