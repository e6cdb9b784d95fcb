"""One registry of functions: every evaluator has each of them, or it is stated why not."""

from __future__ import annotations

import pytest

from cereus.automata.memory import term_builder
from cereus.errors import CereusError
from cereus.expr.arrow import functions as arrow
from cereus.expr.check import check
from cereus.expr.functions import FUNCTIONS, TYPES
from cereus.expr.print import condition_text
from cereus.expr.python import functions as python
from cereus.expr.text import parse_condition
from cereus.expr.types import Kind
from cereus.reference import functions as reference

from .test_check import SCHEMA

COMPUTED = {name for name, function in FUNCTIONS.items() if function.means is None}
"""The functions that are not written with other forms."""
ELSEWHERE = {
    "python": {"regexp", "least", "greatest", "coalesce"},
    "reference": {"regexp", "least", "greatest", "coalesce"},
    "arrow": {"regexp", "coalesce"},
    "spark": {"regexp", "least", "greatest", "coalesce"},
}
"""Functions that an evaluator has beside its table, because they take NULL or are operators."""

TEXTS = "the kernel keeps texts as codes"
ONE_EVENT = "it is about one event's value, and is computed ahead as a column"
NOT_IN_THE_KERNEL = {
    "lower": TEXTS, "upper": TEXTS, "trim": TEXTS, "length": TEXTS, "substr": TEXTS,
    "concat": TEXTS, "starts_with": TEXTS, "ends_with": TEXTS, "contains": TEXTS,
    "cidr_match": TEXTS,
    "regexp": TEXTS, "replace": TEXTS, "split_part": TEXTS, "regexp_extract": TEXTS,
    "year": ONE_EVENT, "month": ONE_EVENT,
    "day": ONE_EVENT, "hour": ONE_EVENT, "minute": ONE_EVENT, "second": ONE_EVENT,
    "weekday": ONE_EVENT, "date_trunc": ONE_EVENT, "epoch": ONE_EVENT, "to_integer": ONE_EVENT,
    "to_double": ONE_EVENT, "to_string": ONE_EVENT, "to_boolean": ONE_EVENT,
    "to_timestamp": ONE_EVENT, "to_date": ONE_EVENT,
}  # fmt: skip
"""Of several events' values these are computed in Python when they are first needed, and looked up
from then on."""


@pytest.mark.parametrize(
    ("evaluator", "table"),
    [
        ("python", python.FUNCTIONS),
        ("reference", reference.FUNCTIONS),
        ("arrow", arrow.FUNCTIONS),
    ],
)
def test_an_evaluator_has_every_function(evaluator: str, table: dict[str, object]) -> None:
    assert set(table) | ELSEWHERE[evaluator] == COMPUTED


def test_spark_has_every_function() -> None:
    pytest.importorskip("pyspark")
    from cereus.spark.expr import functions as spark

    assert set(spark.FUNCTIONS) | ELSEWHERE["spark"] == COMPUTED


def test_the_kernel_has_every_function_or_a_reason() -> None:
    assert set(term_builder.IMPLEMENTED).isdisjoint(NOT_IN_THE_KERNEL)
    assert set(term_builder.IMPLEMENTED) | set(NOT_IN_THE_KERNEL) == COMPUTED


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("mod(price, 2) = 1", "price % 2 = 1"),
        ("left(name, 2) = 'a'", "substr(name, 1, 2) = 'a'"),
        ("right(name, 2) = 'a'", "substr(name, -2) = 'a'"),
        ("right(name, 0) = ''", "substr(name, 1, 0) = ''"),
        ("if(flag, 1, 2) = 1", "CASE WHEN flag THEN 1 ELSE 2 END = 1"),
        ("nullif(price, 0) > 1", "CASE WHEN price = 0 THEN NULL ELSE price END > 1"),
        ("haversine(1, 2, 3, 4) > 1", "distance(1, 2, 3, 4) > 1"),
        ("is_in(price, 1, 2)", "price IN (1, 2)"),
        ("CAST(name AS BIGINT) = 1", "to_integer(name) = 1"),
        ("cast(name as varchar) = 'a'", "to_string(name) = 'a'"),
        ("CASE price WHEN 1 THEN 2 END = 2", "CASE WHEN price = 1 THEN 2 END = 2"),
    ],
)
def test_forms_that_are_written_with_others(text: str, same: str) -> None:
    tree = parse_condition(text)
    assert tree == parse_condition(same)
    assert parse_condition(condition_text(tree)) == tree


@pytest.mark.parametrize("name", TYPES)
def test_a_cast_has_the_kind_of_its_type(name: str) -> None:
    kind = check(parse_condition(f"CAST(NULL AS {name})"), SCHEMA, expected=None)
    result = FUNCTIONS[TYPES[name]].result
    assert isinstance(result, Kind) and kind is result.family


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CAST(price AS decimal) = 1", "no cast to decimal"),
        ("CAST(price AS intger) = 1", "did you mean"),
        ("CAST(price AS string) = '1'", "does not take a float"),
        ("CAST(ts AS integer) = 1", "epoch"),
        ("date_trunc('fortnight', ts) = ts", "no unit 'fortnight'"),
        ("split_part(name, ',', 0) = 'a'", "counted from 1"),
        ("regexp_extract(name, '(a)', 2) = 'a'", "no group 2"),
        ("mod(price) = 1", "write mod(x, y)"),
        ("left(name, price) = 'a'", "literal"),
        ("cidr_match(name, '10.0.0.0/33')", "no block of addresses"),
        ("cidr_match(name, '10.0.0.0/8', name)", "literal"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, said: str) -> None:
    with pytest.raises(CereusError) as caught:
        check(parse_condition(text), SCHEMA, text)
    assert said in str(caught.value)


def test_kinds_have_families() -> None:
    assert Kind.INTEGER.family is Kind.DECIMAL.family is Kind.NUMBER
    assert Kind.NULL.family is Kind.ANY and Kind.STRING.family is Kind.STRING
