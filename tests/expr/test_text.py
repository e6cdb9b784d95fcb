"""Conditions: texts and the trees they stand for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cereus.errors import QueryError
from cereus.expr.print import condition_text
from cereus.expr.text import parse_condition
from cereus.expr.tree import (
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Between,
    Call,
    Case,
    Comparison,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Negate,
    Not,
    Or,
    Regexp,
)


def attribute(*path: str) -> Attribute:
    return Attribute(path)


A, B, C = attribute("a"), attribute("b"), attribute("c")
ONE, TWO = Literal(1), Literal(2)


def equals(left: Expression, right: Expression) -> Comparison:
    return Comparison("=", left, right)


TREES: dict[str, Expression] = {
    # literals
    "1": ONE,
    "1.5": Literal(1.5),
    ".5": Literal(0.5),
    "1e3": Literal(1000.0),
    "-5": Literal(-5),
    "'it''s'": Literal("it's"),
    "''": Literal(""),
    "true": Literal(True),
    "False": Literal(False),
    "NULL": Literal(None),
    "TIMESTAMP '2024-01-01 10:00:00'": Literal(datetime(2024, 1, 1, 10)),
    "timestamp '2024-01-01T10:00:00+00:00'": Literal(datetime(2024, 1, 1, 10, tzinfo=UTC)),
    "DATE '2024-01-01'": Literal(datetime(2024, 1, 1)),
    "INTERVAL '5' minutes": Literal(timedelta(minutes=5)),
    "5 minutes": Literal(timedelta(minutes=5)),
    "1 hour 30 minutes": Literal(timedelta(minutes=90)),
    "-5 minutes": Literal(timedelta(minutes=-5)),
    "a - b < 5 minutes": Comparison("<", Arithmetic("-", A, B), Literal(timedelta(minutes=5))),
    "a || b || c = 'x'": equals(Call("concat", (Call("concat", (A, B)), C)), Literal("x")),
    "a ILIKE 'X!%Y' ESCAPE '!'": Like(Call("lower", (A,)), r"x\%y"),
    "a NOT LIKE '!!!_' ESCAPE '!'": Not(Like(A, r"!\_")),
    r"a LIKE '\%' ESCAPE ''": Like(A, r"\\%"),
    "INTERVAL 5 minutes": Literal(timedelta(minutes=5)),
    "INTERVAL 1 hour 30 minutes": Literal(timedelta(minutes=90)),
    "INTERVAL '1 hour 30 minutes'": Literal(timedelta(minutes=90)),
    "-INTERVAL 1.5 s": Literal(timedelta(seconds=-1.5)),
    # attributes
    "a": A,
    "place.city": attribute("place", "city"),
    '"odd name"."say ""hi"""': attribute("odd name", 'say "hi"'),
    "`select`.`a``b`": attribute("select", "a`b"),
    "größe": attribute("größe"),
    # words that are keywords elsewhere stay names
    "timestamp = interval": equals(attribute("timestamp"), attribute("interval")),
    "end = limit": equals(attribute("end"), attribute("limit")),
    # arithmetic
    "a + 1 * 2": Arithmetic("+", A, Arithmetic("*", ONE, TWO)),
    "(a + 1) * 2": Arithmetic("*", Arithmetic("+", A, ONE), TWO),
    "a - 1 - 2": Arithmetic("-", Arithmetic("-", A, ONE), TWO),
    "a / b % c": Arithmetic("%", Arithmetic("/", A, B), C),
    "-a * 2": Arithmetic("*", Negate(A), TWO),
    "a - -1": Arithmetic("-", A, Literal(-1)),
    "- -1": Negate(Literal(-1)),
    "+a": A,
    # comparisons
    "a == 1": equals(A, ONE),
    "a <> 1": Comparison("!=", A, ONE),
    "a ≠ 1": Comparison("!=", A, ONE),
    "a ≤ 1": Comparison("<=", A, ONE),
    "a ≥ 1": Comparison(">=", A, ONE),
    "a>1": Comparison(">", A, ONE),
    # logic
    "a = 1 OR b = 1 AND NOT c = 1": Or(
        (equals(A, ONE), And((equals(B, ONE), Not(equals(C, ONE)))))
    ),
    "a and b and c": And((A, B, C)),
    "a and (b and c)": And((A, And((B, C)))),
    "not not a": Not(Not(A)),
    # tests
    "a IN (1, -2)": In(A, (ONE, Literal(-2))),
    "a NOT IN {1, 'x'}": Not(In(A, (ONE, Literal("x")))),
    "a in {1..2}": Between(A, ONE, TWO),
    "a in {1..}": Between(A, ONE, None),
    "a in {..2}": Between(A, None, TWO),
    "a in {1.5..2.5}": Between(A, Literal(1.5), Literal(2.5)),
    "a IN RANGE(1, 2)": Between(A, ONE, TWO),
    "a BETWEEN 1 AND 2 AND b": And((Between(A, ONE, TWO), B)),
    "a not between 1 and b + 1": Not(Between(A, ONE, Arithmetic("+", B, ONE))),
    "a LIKE 'x%'": Like(A, "x%"),
    "a NOT LIKE 'x%'": Not(Like(A, "x%")),
    "a REGEXP '^x'": Regexp(A, "^x"),
    "a rlike '^x'": Regexp(A, "^x"),
    "a IS NULL": IsNull(A),
    "a is not null": Not(IsNull(A)),
    # calls
    "ABS(a - b) / a": Arithmetic("/", Call("abs", (Arithmetic("-", A, B),)), A),
    "now()": Call("now", ()),
    "sum(b.volume)": Aggregate("sum", "b", ("volume",)),
    "COUNT(b)": Aggregate("count", "b", None),
    "first(b.place.city)": Aggregate("first", "b", ("place", "city")),
    "case when a then 1 when b then 2 else c end": Case(((A, ONE), (B, TWO)), C),
    "CASE WHEN end THEN end END": Case(((attribute("end"), attribute("end")),)),
    # comments
    "a -- the price\n = /* exactly * */ 1": equals(A, ONE),
}


@pytest.mark.parametrize("text", TREES)
def test_text_stands_for_tree(text: str) -> None:
    assert parse_condition(text) == TREES[text]


@pytest.mark.parametrize("text", TREES)
def test_tree_prints_as_text_with_the_same_meaning(text: str) -> None:
    assert parse_condition(condition_text(TREES[text])) == TREES[text]


def test_nodes_know_where_they_stand() -> None:
    text = "price > 1 AND name IN ('a', 'b')"
    tree = parse_condition(text)
    spans = {text[slice(*node.span)] for node in tree.walk() if node.span is not None}
    assert spans == {text, "price > 1", "price", "1", "name IN ('a', 'b')", "name", "'a'", "'b'"}


ERRORS = {
    "a =": """\
expected an attribute or a value, but the text ends
1 | a =
       ^
hint: write what to compare with after =""",
    "a = 'x": """\
this string is never closed
1 | a = 'x
        ^
hint: end it with '""",
    '"a = 1': """\
this quoted name is never closed
1 | "a = 1
    ^
hint: end it with \"""",
    "a = 1 /* why": """\
this comment is never closed
1 | a = 1 /* why
          ^
hint: end it with */""",
    "(a = 1": """\
this '(' is never closed
1 | (a = 1
    ^
hint: close it with ')'""",
    "a IN {1, 2)": """\
this '{' is never closed
1 | a IN {1, 2)
         ^
hint: close it with '}'""",
    "a = 1)": """\
this ')' closes nothing
1 | a = 1)
         ^
hint: leave it out, or open it before""",
    "a < b < c": """\
expected an arithmetic operator, AND, OR or the end of the text, but found '<'
1 | a < b < c
          ^
hint: compare twice: a < b AND b < c""",
    "a && b": """\
expected a comparison, an arithmetic operator, AND, OR or the end of the text, but found '&'
1 | a && b
      ^
hint: write AND""",
    "a = 1 || b = 2": """\
expected an arithmetic operator, AND, OR or the end of the text, but found '='
1 | a = 1 || b = 2
               ^
hint: || joins texts: between conditions write OR""",
    "(a = 1) || (b = 2)": """\
|| joins texts, and this is a condition
1 | (a = 1) || (b = 2)
            ^^
hint: between conditions write OR""",
    "a LIKE 'x!y' ESCAPE '!'": """\
! stands before something else than %, _ or !
1 | a LIKE 'x!y' ESCAPE '!'
      ^^^^^^^^^^^^^^^^^^^^^
hint: write !! for the sign itself""",
    "a LIKE 'x' ESCAPE '!!'": """\
ESCAPE takes one character
1 | a LIKE 'x' ESCAPE '!!'
      ^^^^^^^^^^^^^^^^^^^^
hint: write ESCAPE '!'""",
    "a < 5 minuts": """\
unknown unit of time 'minuts'
1 | a < 5 minuts
        ^^^^^^^^
hint: did you mean 'minutes'?""",
    "a = from": """\
expected an attribute or a value, but found 'from'
1 | a = from
        ^^^^
hint: from is a keyword; write "from" to use it as a name""",
    "name 'x'": """\
an operator is missing between name and 'x'
1 | name 'x'
    ^^^^^^^^
hint: write name = 'x'""",
    "a 5 b": """\
an operator is missing between a and 5
1 | a 5 b
    ^^^
hint: write a = 5""",
    "a IN (b)": """\
IN takes a list of values
1 | a IN (b)
          ^
hint: write literal numbers or 'strings'; compare with = for anything else""",
    "ts > TIMESTAMP 'noon'": """\
'noon' is not a timestamp
1 | ts > TIMESTAMP 'noon'
                   ^^^^^^
hint: write '2024-01-31 10:00:00'""",
    "d > INTERVAL 5 parsecs": """\
unknown unit of time 'parsecs'
1 | d > INTERVAL 5 parsecs
        ^^^^^^^^^^^^^^^^^^
hint: known here: days, hours, microseconds, milliseconds, minutes, seconds, weeks""",
    "d > INTERVAL 'long'": """\
this is not an interval
1 | d > INTERVAL 'long'
                 ^^^^^^
hint: write '5 minutes'""",
    "sum(volume) > 1": """\
sum needs a variable and its attribute
1 | sum(volume) > 1
    ^^^^^^^^^^^
hint: write sum(b.volume) for a variable b""",
    "min(a, b) > 1": """\
min takes one attribute of a variable
1 | min(a, b) > 1
    ^^^^^^^^^
hint: write min(b.price); for the min of several values write least(x, y)""",
    "a NOT IS NULL": """\
NOT before IS
1 | a NOT IS NULL
    ^^^^^^^^^^^^^
hint: write IS NOT NULL""",
    "a = 99999999999999999999": """\
this integer does not fit in 64 bits
1 | a = 99999999999999999999
        ^^^^^^^^^^^^^^^^^^^^
hint: write a double, 1e20 (16 digits), or read the column as text: '99999999999999999999'""",
    "a = 1e999": """\
this number is too large for a double
1 | a = 1e999
        ^^^^^
hint: the largest is about 1.8e308""",
    "a = 1\nAND b = \nAND c": """\
expected an attribute or a value, but found 'AND'
3 | AND c
    ^^^
hint: write what to compare with after =""",
}


@pytest.mark.parametrize("text", ERRORS)
def test_error_says_where_and_what_to_do(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_condition(text)
    assert str(caught.value) == ERRORS[text]


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    with pytest.raises(QueryError, match="nested too deeply"):
        parse_condition("a" + " + a" * 5000)
