"""The evaluators agree on every value, nulls included."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cereus.expr import tree as ex
from cereus.expr.arrow import evaluate as engine
from cereus.expr.python import evaluate as python
from cereus.reference import conditions as reference
from tests.volume import volume

from . import strategies as random_


def same(left: Any, right: Any) -> bool:
    """Equal values; doubles may differ in the last bits, as mathematical libraries do."""
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        return (left != left and right != right) or math.isclose(left, right, rel_tol=1e-9)
    return bool(left == right)


def listed(result: Any, length: int) -> list[Any]:
    return [result.as_py()] * length if isinstance(result, pa.Scalar) else result.to_pylist()


@settings(max_examples=volume(50, 375), deadline=None, suppress_health_check=list(HealthCheck))
@given(random_.expressions(), random_.tables)
def test_python_and_arrow_give_the_reference_value_on_every_row(
    expression: ex.Expression, table: pa.Table
) -> None:
    events = table.to_pylist()
    expected = [reference.evaluate(expression, event) for event in events]
    for event, theirs in zip(events, expected, strict=True):
        assert same(python.evaluate(expression, event), theirs), event
    found = listed(engine.evaluate(expression, table), table.num_rows)
    assert len(found) == len(expected)
    for row, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert same(ours, theirs), (row, ours, theirs)


@settings(max_examples=volume(30, 150), deadline=None, suppress_health_check=list(HealthCheck))
@given(random_.booleans(), random_.tables, st.integers(0, 6))
def test_a_mask_does_not_depend_on_how_the_rows_are_batched(
    condition: ex.Expression, table: pa.Table, cut: int
) -> None:
    expected = [reference.holds(condition, event) for event in table.to_pylist()]
    halves = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    for shape in (table, halves):
        assert engine.mask(condition, shape).tolist() == expected
    for batch in halves.to_batches():
        assert engine.mask(condition, batch).dtype == np.bool_


@settings(max_examples=volume(20, 100), deadline=None, suppress_health_check=list(HealthCheck))
@given(random_.booleans(), random_.tables)
def test_attributes_of_a_variable_are_read_from_its_binding(
    condition: ex.Expression, table: pa.Table
) -> None:
    bound = _of_variable(condition, "a")
    events = table.to_pylist()
    expected = [reference.holds(bound, {}, {"a": event}) for event in events]
    assert engine.mask(bound, table.select([]), {"a": table}).tolist() == expected
    one_row = pa.RecordBatch.from_pydict({"n": [1]})
    for event, holds in zip(events, expected, strict=True):
        assert engine.mask(bound, one_row, {"a": event}).tolist() == [holds]


def _of_variable(expression: ex.Expression, variable: str) -> ex.Expression:
    if isinstance(expression, ex.Attribute):
        return ex.Attribute(expression.path, variable)
    return ex.rebuild(expression, lambda child: _of_variable(child, variable))


def test_same_tells_values_apart() -> None:
    assert same(math.nan, math.nan) and same(1, 1.0) and same(None, None)
    assert not same(None, False) and not same(1.0, 1.1) and not same(timedelta(1), timedelta(2))
