"""Checking conditions against the columns of the events."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest

from cereus.errors import QueryError
from cereus.expr.check import check, coerce
from cereus.expr.text import parse_condition
from cereus.expr.types import Kind

SCHEMA = pa.schema(
    {
        "price": pa.float64(),
        "volume": pa.int32(),
        "cost": pa.decimal128(10, 2),
        "name": pa.dictionary(pa.int32(), pa.string()),
        "note": pa.large_string(),
        "flag": pa.bool_(),
        "ts": pa.timestamp("us"),
        "day": pa.date32(),
        "lag": pa.duration("us"),
        "place": pa.struct({"city": pa.string(), "lat": pa.float64()}),
        "tags": pa.list_(pa.string()),
    }
)

FITS = [
    "price > 1 AND volume <= cost",
    "name = 'x' OR note < name",
    "name IN ('x', NULL)",
    "place.city LIKE 'B%' AND place.lat BETWEEN 1 AND 2",
    "flag AND NOT flag = TRUE",
    "price = NULL",
    "tags IS NOT NULL AND place IS NULL",
    "ts - ts > INTERVAL 5 minutes AND lag + lag > lag",
    "ts + INTERVAL 1 day > ts - lag",
    "ts > '2024-01-31' AND day BETWEEN '2024-01-31' AND TIMESTAMP '2024-02-01'",
    "ts IN ('2024-01-31 10:00:00')",
    "'2024-01-31' < ts",
    "abs(-price) % 2 = 1 AND round(price, 2) = round(price)",
    "least(price, volume, 3) > 1 AND greatest(ts, day) > ts",
    "coalesce(name, 'none') = 'none'",
    "CASE WHEN flag THEN price ELSE NULL END > 1",
    "substr(name, 1, 2) = 'MS' AND starts_with(note, 'a') AND hour(ts) = 3",
    "sum(b.price) > 1 AND count(b) > 1 AND count(b.tags) > 1 AND max(b.ts) > min(b.ts)",
    "first(b.name) = last(b.name)",
]


@pytest.mark.parametrize("text", FITS)
def test_fits(text: str) -> None:
    assert check(parse_condition(text), SCHEMA, text) is Kind.BOOLEAN


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("price * 2", Kind.NUMBER),
        ("concat(name, note)", Kind.STRING),
        ("ts - day", Kind.INTERVAL),
        ("ts - lag", Kind.TIMESTAMP),
        ("least(name, note)", Kind.STRING),
        ("NULL", Kind.ANY),
    ],
)
def test_kind_of_a_value(text: str, kind: Kind) -> None:
    assert check(parse_condition(text), SCHEMA, text, expected=None) is kind


def test_a_string_beside_a_timestamp_becomes_one() -> None:
    coerced = coerce(parse_condition("ts > '2024-01-31' AND name = '2024-01-31'"), SCHEMA)
    assert coerced == parse_condition("ts > TIMESTAMP '2024-01-31' AND name = '2024-01-31'")
    assert datetime(2024, 1, 31) in [getattr(node, "value", None) for node in coerced.walk()]


ERRORS = {
    "pirce > 1": """\
unknown attribute 'pirce'
1 | pirce > 1
    ^^^^^
hint: did you mean 'price'?""",
    "place.cty = 'x'": """\
unknown attribute 'place.cty'
1 | place.cty = 'x'
    ^^^^^^^^^
hint: did you mean 'place.city'?""",
    "price.x = 1": """\
'price' has no fields, so 'price.x' is unknown
1 | price.x = 1
    ^^^^^^^
hint: leave out what follows the dot""",
    'name = "MSFT"': """\
unknown attribute 'MSFT'
1 | name = "MSFT"
           ^^^^^^
hint: write 'MSFT' if this is a string: double quotes make names""",
    "name = 5": """\
cannot compare a string with a number
1 | name = 5
    ^^^^^^^^
hint: write '5' in quotes, or read the column as a number: types={"name": "double"}""",
    "price IN (1, '5')": """\
cannot compare a number with a string
1 | price IN (1, '5')
                 ^^^
hint: leave out the quotes of '5', or compare with a string""",
    "ts > 'noon'": """\
cannot compare a timestamp with a string
1 | ts > 'noon'
    ^^^^^^^^^^^
hint: write a timestamp as '2024-01-31 10:00:00'""",
    "flag = 1": """\
cannot compare a boolean with a number
1 | flag = 1
    ^^^^^^^^
hint: a boolean is a condition by itself; its values are true and false""",
    "flag < TRUE": """\
booleans have no order for <
1 | flag < TRUE
    ^^^^^^^^^^^
hint: use =, != or NOT""",
    "price": """\
expected a boolean, but this is a number
1 | price
    ^^^^^
hint: compare it with something""",
    "flag AND price": """\
expected a boolean, but this is a number
1 | flag AND price
             ^^^^^
hint: compare it with something""",
    "name + name = 'x'": """\
cannot calculate a string + a string
1 | name + name = 'x'
    ^^^^^^^^^^^
hint: join strings with concat(x, y)""",
    "ts * 2 > ts": """\
cannot calculate a timestamp * a number
1 | ts * 2 > ts
    ^^^^^^
hint: arithmetic takes numbers, and times with intervals""",
    "-name = 1": """\
expected a number, but this is a string
1 | -name = 1
     ^^^^
hint: write a number here""",
    "bas(price) > 1": """\
unknown function 'bas'
1 | bas(price) > 1
    ^^^^^^^^^^
hint: did you mean 'abs'?""",
    "round(price, 1, 2) = 1": """\
round takes 1 to 2 arguments, not 3
1 | round(price, 1, 2) = 1
    ^^^^^^^^^^^^^^^^^^
hint: write round(x[, digits])""",
    "least(price) = 1": """\
least takes 2 or more arguments, not 1
1 | least(price) = 1
    ^^^^^^^^^^^^
hint: write least(x, y, …)""",
    "abs(name) = 1": """\
expected a number, but this is a string
1 | abs(name) = 1
        ^^^^
hint: write a number here""",
    "least(price, name) = 1": """\
expected a number, but this is a string
1 | least(price, name) = 1
                 ^^^^
hint: write a number here""",
    "starts_with(name, note)": """\
argument 2 of starts_with is a literal value
1 | starts_with(name, note)
                      ^^^^
hint: write the value itself, or a parameter""",
    "price LIKE '5%'": """\
expected a string, but this is a number
1 | price LIKE '5%'
    ^^^^^
hint: write a string here""",
    "name REGEXP 'a('": """\
bad regular expression: missing ): a(
1 | name REGEXP 'a('
    ^^^^^^^^^^^^^^^^
hint: it is written as RE2 has it, where a sign for itself has \\ before it""",
    "regexp(name, 'a(')": """\
bad regular expression: missing ): a(
1 | regexp(name, 'a(')
                 ^^^^
hint: it is written as RE2 has it, where a sign for itself has \\ before it""",
    "tags = 'x'": """\
'tags' is of type list<item: string>, which conditions cannot compare
1 | tags = 'x'
    ^^^^
hint: only IS NULL can be asked of it""",
    "place = 'x'": """\
'place' is of type struct<city: string, lat: double>, which conditions cannot compare
1 | place = 'x'
    ^^^^^
hint: name one of its fields: city, lat""",
    "sum(b.name) > 1": """\
expected a number, but this is a string
1 | sum(b.name) > 1
    ^^^^^^^^^^^
hint: write a number here""",
    "CASE WHEN flag THEN 1 ELSE 'x' END = 1": """\
expected a number, but this is a string
1 | CASE WHEN flag THEN 1 ELSE 'x' END = 1
                               ^^^
hint: write a number here""",
}


@pytest.mark.parametrize("text", ERRORS)
def test_error_says_where_and_what_to_do(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        check(parse_condition(text), SCHEMA, text)
    assert str(caught.value) == ERRORS[text]


def test_without_the_text_the_reason_remains() -> None:
    with pytest.raises(QueryError, match="unknown attribute 'pirce'\nhint: did you mean"):
        check(parse_condition("pirce > 1"), SCHEMA)


@pytest.mark.parametrize("operator", ["LIKE", "REGEXP"])
def test_a_very_long_pattern_is_refused_before_arrow_sees_it(
    operator: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Arrow's RE2 prints a line for many of its signs."""
    check(parse_condition(f"name {operator} '{'a%' * 5_000}'"), SCHEMA)
    with pytest.raises(QueryError, match="a pattern of 1,000,000 signs"):
        check(parse_condition(f"name {operator} '{'%a' * 500_000}'"), SCHEMA)
    assert capfd.readouterr().err == ""
