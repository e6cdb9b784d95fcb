"""The worked examples hold in the reference and over Arrow, for constants and for columns."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cereus.errors import ConditionTypeError, DataError
from cereus.expr import tree as ex
from cereus.expr.arrow import evaluate as engine
from cereus.expr.functions import FUNCTIONS
from cereus.expr.python import evaluate as python
from cereus.expr.text_patterns import escaped_like, with_text_end
from cereus.reference import conditions as reference

from .examples import EXAMPLES, fn, lit, op

ONE_ROW = pa.RecordBatch.from_pydict({"n": [1]})


def agree(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        same_nan = found != found and expected != expected
        return same_nan or math.isclose(found, expected, rel_tol=1e-9)
    return bool(found == expected) and (found is None) == (expected is None)


def as_columns(node: ex.Expression, event: dict[str, Any]) -> ex.Expression:
    """The same expression with its constants read from attributes of `event`."""
    if isinstance(node, ex.Literal) and node.value is not None and node.value != 2**64:
        name = f"c{len(event)}"
        event[name] = node.value
        return ex.Attribute((name,))
    if isinstance(node, ex.Call):
        literals = FUNCTIONS[node.function].literals
        arguments = (
            each if place in literals else as_columns(each, event)
            for place, each in enumerate(node.arguments)
        )
        return ex.Call(node.function, tuple(arguments))
    if isinstance(node, ex.In):
        return ex.In(as_columns(node.operand, event), node.items)
    return ex.rebuild(node, lambda child: as_columns(child, event))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("evaluator", [reference, python], ids=["reference", "python"])
def test_on_one_event(name: str, evaluator: Any) -> None:
    expression, expected = EXAMPLES[name]
    assert agree(evaluator.evaluate(expression, {}), expected)
    event: dict[str, Any] = {}
    assert agree(evaluator.evaluate(as_columns(expression, event), event), expected)


@pytest.mark.parametrize("name", EXAMPLES)
def test_arrow(name: str) -> None:
    expression, expected = EXAMPLES[name]
    result = engine.evaluate(expression, ONE_ROW)
    assert isinstance(result, pa.Scalar)
    assert agree(result.as_py(), expected)


@pytest.mark.parametrize("name", EXAMPLES)
def test_arrow_over_columns(name: str) -> None:
    expression, expected = EXAMPLES[name]
    event: dict[str, Any] = {}
    over_columns = as_columns(expression, event)
    table = pa.Table.from_pylist([event, dict.fromkeys(event), event]) if event else ONE_ROW
    result = engine.evaluate(over_columns, table)
    found = result.as_py() if isinstance(result, pa.Scalar) else result.to_pylist()[0]
    assert agree(found, expected)


def test_every_function_has_an_example() -> None:
    used = {
        node.function
        for expression, _ in EXAMPLES.values()
        for node in expression.walk()
        if isinstance(node, ex.Call)
    }
    assert used == {name for name, each in FUNCTIONS.items() if each.means is None}


PRICE, SYMBOL = ex.Attribute(("price",)), ex.Attribute(("symbol",))


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 2)])
def test_a_number_column_of_any_type(kind: pa.DataType) -> None:
    table = pa.table({"price": pa.array([9, None, 11], pa.int8()).cast(kind)})
    assert engine.mask(op(PRICE, ">", 10), table).tolist() == [False, False, True]
    assert engine.mask(op(PRICE, ">", -1), table).tolist() == [True, False, True]
    assert engine.evaluate(op(PRICE, "-", 10), table).to_pylist() == [-1, None, 1]


def test_unsigned_integers_compare_exactly_and_calculate_in_64_bits() -> None:
    table = pa.table({"price": pa.array([2**64 - 1, 5], pa.uint64())})
    assert engine.mask(op(PRICE, ">", 2**63 - 1), table).tolist() == [True, False]
    assert engine.evaluate(op(PRICE, "+", 1), table).to_pylist() == [None, 6]
    assert reference.evaluate(op(PRICE, "+", 1), {"price": 2**64 - 1}) is None


def test_a_decimal_is_compared_exactly_with_decimals_and_as_a_double_with_doubles() -> None:
    rows = [{"price": Decimal("10.10"), "other": Decimal("10.1000000000000000000001")}]
    kinds = {"price": pa.decimal128(10, 2), "other": pa.decimal128(38, 22)}
    table = pa.Table.from_pylist(rows, pa.schema(kinds))
    other = ex.Attribute(("other",))
    for condition in (op(PRICE, "=", 10.1), op(PRICE, "<", other), op(other, ">", 10)):
        assert engine.mask(condition, table).tolist() == [True]
        assert reference.holds(condition, rows[0])


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.uint32(), pa.large_string()),
    ],
)
def test_a_string_column_of_any_type(kind: pa.DataType) -> None:
    names = ["GOOG", None, "MSFT", "GOOG", "GOOG", "MSFT"]
    encoded = pa.array(names)
    if pa.types.is_dictionary(kind):
        encoded = encoded.dictionary_encode()
    table = pa.table({"symbol": encoded.cast(kind)})
    for condition in (
        op(SYMBOL, "=", "GOOG"),
        ex.In(SYMBOL, (lit("GOOG"), lit("IBM"))),
        ex.Like(SYMBOL, "G%"),
        op(fn("lower", SYMBOL), "=", "goog"),
        op(fn("concat", SYMBOL, SYMBOL), "=", "GOOGGOOG"),
    ):
        assert engine.mask(condition, table).tolist() == [name == "GOOG" for name in names]
    assert engine.mask(ex.IsNull(SYMBOL), table).tolist() == [name is None for name in names]
    assert engine.evaluate(SYMBOL, table).to_pylist() == names


def test_a_dictionary_with_a_null_entry_and_chunks_with_their_own_dictionaries() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0]), pa.array(["a", None]))
    other = pa.array(["b", "a", "b", "b"]).dictionary_encode().cast(odd.type)
    table = pa.table({"symbol": pa.chunked_array([odd, other])})
    expected = [True, False, False, True, False, True, False, False]
    assert engine.mask(op(SYMBOL, "=", "a"), table).tolist() == expected
    known = engine.evaluate(ex.Not(op(SYMBOL, "=", "b")), table).to_pylist()
    assert known == [True, None, None, True, False, True, False, False]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_timestamp_column_of_any_unit_against_any_literal(unit: str) -> None:
    when = [datetime(1970, 1, 1), None, datetime(2024, 1, 1, 10)]
    moment = ex.Attribute(("ts",))
    for zone in (None, "UTC", "Asia/Tokyo"):
        table = pa.table({"ts": pa.array(when, pa.timestamp(unit)).cast(pa.timestamp(unit, zone))})
        for condition, expected in (
            (op(moment, ">", datetime(2000, 1, 1)), [False, False, True]),
            (op(moment, "<", datetime(9999, 12, 31)), [True, False, True]),
            (op(moment, ">", datetime(1, 1, 1)), [True, False, True]),
            (op(moment, "=", datetime(2024, 1, 1, 10, 0, 0, 1)), [False, False, False]),
            (op(fn("hour", moment), "=", 10), [False, False, True]),
        ):
            assert engine.mask(condition, table).tolist() == expected


def test_nanoseconds_are_compared_to_the_last_one() -> None:
    table = pa.table({"ts": pa.array([1_000, 1_001], pa.timestamp("ns"))})
    after = op(ex.Attribute(("ts",)), ">", datetime(1970, 1, 1, 0, 0, 0, 1))
    assert engine.mask(after, table).tolist() == [False, True]


def test_a_condition_on_no_rows() -> None:
    table = pa.table({"price": pa.array([], pa.float64()), "symbol": pa.array([], pa.string())})
    condition = ex.And((op(op(PRICE, "*", 2), ">", 10), ex.Like(SYMBOL, "A%")))
    for shape in (table, table.to_batches()[0] if table.to_batches() else table):
        assert engine.mask(condition, shape).tolist() == []
    assert engine.mask(lit(True), table).shape == (0,)


def test_a_sliced_batch_reads_its_own_rows() -> None:
    rows = [{"price": p, "ok": p is not None and p > 5} for p in (1, None, 7, 9, None, 3, 8, 6, 2)]
    batch = pa.RecordBatch.from_pylist(rows).slice(3, 5)
    condition = ex.And((op(PRICE, ">", 5), ex.Attribute(("ok",))))
    assert engine.mask(condition, batch).tolist() == [True, False, False, True, True]


def test_only_null_can_be_asked_of_a_list() -> None:
    table = pa.table({"tags": [["a"], None]})
    tags = ex.Attribute(("tags",))
    assert engine.mask(ex.IsNull(tags), table).tolist() == [False, True]
    with pytest.raises(DataError, match="list"):
        engine.mask(op(tags, "=", 1), table)


def test_errors_say_what_is_wrong() -> None:
    table = pa.table({"price": [1.0], "symbol": ["A"]})
    with pytest.raises(ConditionTypeError, match="cannot compare"):
        engine.mask(op(SYMBOL, ">", 1), table)


def test_a_constant_condition_has_a_mask_as_long_as_the_table() -> None:
    table = pa.table({"price": [1.0, 2.0]})
    for value, expected in ((True, [True, True]), (None, [False, False])):
        found = engine.mask(lit(value), table)
        assert found.dtype == np.bool_ and found.tolist() == expected


def test_patterns_are_brought_to_one_spelling() -> None:
    assert escaped_like(r"a\%\b%") == r"a\%\\b%"
    assert with_text_end(r"a$|\$[$]b$", r"\z") == r"a\z|\$[$]b\z"
    assert with_text_end(r"[]$]$[^]$]", r"\z") == r"[]$]\z[^]$]"


def test_whole_numbers_and_others_are_not_taken_for_each_other() -> None:
    """Conditions are kept once they are understood: `n * 4` and `n * 4.0` on their own."""
    table = pa.table({"n": [2**62, 5]})
    for factor, expected in ((4.0, [True, True]), (4, [False, True]), (4.0, [True, True])):
        condition = op(op(ex.Attribute(("n",)), "*", factor), ">", 0)
        assert engine.mask(condition, table).tolist() == expected
    assert lit(4) != lit(4.0) and lit(1) != lit(True) and lit(4) == lit(4)
    assert len({lit(4), lit(4.0), lit(4)}) == 2
