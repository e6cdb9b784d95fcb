"""Logic, comparison, arithmetic and choice on vectors; the rules are the reference's."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import ConditionTypeError
from cereus.expr.arrow.vector import (
    INT64,
    NULL,
    PER_SECOND,
    Vector,
    boolean,
    both,
    finest,
    from_arrow,
    rescale,
    to_arrow,
)
from cereus.expr.types import NUMBERS, Kind

COMPARE: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "=": (operator.eq, "equal"),
    "!=": (operator.ne, "not_equal"),
    "<": (operator.lt, "less"),
    "<=": (operator.le, "less_equal"),
    ">": (operator.gt, "greater"),
    ">=": (operator.ge, "greater_equal"),
}
TIMES = (Kind.TIMESTAMP, Kind.INTERVAL)
YEAR_1 = -62_135_596_800
YEAR_10000 = 253_402_300_800


def conjunction(operands: Sequence[Vector]) -> Vector:
    return functools.reduce(_and, operands)


def disjunction(operands: Sequence[Vector]) -> Vector:
    return complement(conjunction([complement(operand) for operand in operands]))


def complement(operand: Vector) -> Vector:
    operand = truth(operand)
    return boolean(~operand.values, operand.valid)


def truth(operand: Vector) -> Vector:
    if operand.kind is Kind.NULL:
        return boolean(np.False_, np.False_)
    assert operand.kind is Kind.BOOLEAN, operand.kind
    return operand


def _and(left: Vector, right: Vector) -> Vector:
    left, right = truth(left), truth(right)
    values = left.values & right.values
    if left.valid is None and right.valid is None:
        return Vector(Kind.BOOLEAN, values)
    # Known where the outcome is true, or where either side is known to be false.
    false = [_false(side) for side in (left, right)]
    return Vector(Kind.BOOLEAN, values, values | false[0] | false[1])


def _false(side: Vector) -> Any:
    return ~side.values if side.valid is None else side.valid & ~side.values


def compare(op: str, left: Vector, right: Vector) -> Vector:
    """`left op right`, row by row; NULL where one side is NULL."""
    if Kind.NULL in (left.kind, right.kind):
        return boolean(np.False_, np.False_)
    kinds = {left.kind, right.kind}
    on_numpy, on_arrow = COMPARE[op]
    if kinds == {Kind.STRING}:
        return from_arrow(pc.call_function(on_arrow, [left.values, right.values]))
    if Kind.DECIMAL in kinds and Kind.FLOAT not in kinds and kinds <= NUMBERS:
        return from_arrow(pc.call_function(on_arrow, list(_wide_decimals([left, right]))))
    if kinds <= NUMBERS:
        a, b = _numbers(left, right)
    elif len(kinds) == 1 and left.kind in TIMES:
        unit = finest(left, right)
        a, b = rescale(left, unit)[0], rescale(right, unit)[0]
    elif kinds == {Kind.BOOLEAN}:
        a, b = left.values, right.values
    else:
        raise ConditionTypeError(f"cannot compare {_name(left)} with {_name(right)}")
    return boolean(on_numpy(a, b), both(left.validity(), right.validity()))


def _numbers(left: Vector, right: Vector) -> tuple[Any, Any]:
    if left.kind is right.kind is Kind.INTEGER:
        return left.values, right.values
    return as_float(left).values, as_float(right).values


def _wide_decimals(vectors: Sequence[Vector]) -> list[Any]:
    """Arrow decimals of one type; 76 digits hold any two decimals of 38."""
    data = [_as_decimal(vector) for vector in vectors]
    scale = max(each.type.scale for each in data)
    digits = max(each.type.precision - each.type.scale for each in data)
    kind = pa.decimal128 if digits + scale <= 38 else pa.decimal256
    return [each.cast(kind(min(76, digits + scale), scale)) for each in data]


def _as_decimal(vector: Vector) -> Any:
    if vector.kind is Kind.DECIMAL:
        return vector.values
    data = to_arrow(vector, np.size(vector.values))
    return data.cast(pa.decimal128(20 if data.type == pa.uint64() else 19, 0))


def as_float(vector: Vector) -> Vector:
    """Numbers as doubles, each the nearest one."""
    if vector.kind is Kind.FLOAT:
        return vector
    if vector.kind is Kind.INTEGER:
        return replace(vector, kind=Kind.FLOAT, values=vector.values.astype(np.float64))
    assert vector.kind is Kind.DECIMAL, vector.kind
    if isinstance(vector.values, pa.Scalar):
        value = vector.values.as_py()
        return Vector(Kind.FLOAT, np.float64(value or 0), vector.validity())
    return Vector(Kind.FLOAT, _decimal_as_float(vector.values), vector.validity())


def _decimal_as_float(data: pa.Array) -> Any:
    """Decimals as doubles: unscaled integers below 2**53 over a power of ten that is a double are
    correctly rounded, unlike in Arrow's own cast. Wider decimals are converted one by one."""
    scale = data.type.scale
    if pa.types.is_decimal128(data.type) and 0 <= scale <= 22 and len(data):
        words = np.frombuffer(data.buffers()[1], np.int64)[2 * data.offset :][: 2 * len(data)]
        low, high = words[::2], words[1::2]
        if np.all((high == low >> 63) & (low > -(2**53)) & (low < 2**53)):
            return low / np.float64(10**scale)
    return np.array([float(value or Decimal()) for value in data.to_pylist()], np.float64)


def as_int64(vector: Vector) -> Vector:
    """Integers of 64 bits, null where an unsigned one does not fit."""
    values = vector.values
    if values.dtype == np.uint64:
        fitting = vector.where(values <= np.uint64(INT64.max))
        return replace(fitting, values=values.astype(np.int64))
    return replace(vector, values=values.astype(np.int64, copy=False))


def negate(operand: Vector) -> Vector:
    if operand.kind is Kind.FLOAT:
        return replace(operand, values=-operand.values)
    zero = replace(operand, values=np.int64(0), valid=None) if operand.unit else None
    return arithmetic("-", zero or Vector(Kind.INTEGER, np.int64(0)), operand)


def arithmetic(op: str, left: Vector, right: Vector) -> Vector:
    if Kind.NULL in (left.kind, right.kind):
        return NULL
    with np.errstate(all="ignore"):
        if left.kind in TIMES or right.kind in TIMES:
            return _shift(op, left, right)
        if left.kind is right.kind is Kind.INTEGER and op != "/":
            return _integer(op, as_int64(left), as_int64(right))
        return _real(op, as_float(left), as_float(right))


def _real(op: str, left: Vector, right: Vector) -> Vector:
    a, b = left.values, right.values
    valid = both(left.valid, right.valid)
    if op == "/" or op == "%":
        result = Vector(Kind.FLOAT, (np.divide if op == "/" else np.fmod)(a, b), valid)
        return result.where(b != 0)
    return Vector(Kind.FLOAT, _OPERATE[op](a, b), valid)


_OPERATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}


def _integer(op: str, left: Vector, right: Vector) -> Vector:
    a, b = left.values, right.values
    result = replace(left, valid=both(left.valid, right.valid))
    if op == "%":
        divisor = np.where(b == 0, np.int64(1), b)
        return replace(result, values=np.fmod(a, divisor)).where(b != 0)
    values = _OPERATE[op](a, b)
    return replace(result, values=values).where(_exact(op, a, b, values))


def _exact(op: str, a: Any, b: Any, wrapped: Any) -> Any:
    """The rows where two's complement arithmetic did not wrap around; None for all."""
    if _cannot_overflow(op, a, b):
        return None
    if op == "+":
        return ((a ^ wrapped) & (b ^ wrapped)) >= 0
    if op == "-":
        return ((a ^ b) & (a ^ wrapped)) >= 0
    size = np.abs(np.multiply(a, b, dtype=np.float64))
    exact = np.asarray(size < 2.0**62)
    a, b = np.broadcast_to(a, exact.shape), np.broadcast_to(b, exact.shape)
    for index in map(tuple, np.argwhere(~exact & (size < 2.0**64))):  # too near for a double
        exact[index] = INT64.min <= int(a[index]) * int(b[index]) <= INT64.max
    return exact


def _cannot_overflow(op: str, a: Any, b: Any) -> bool:
    """Whether no row can overflow, by the extremes alone; this takes a quarter of the time of
    checking each row."""
    if np.size(a) == 0 or np.size(b) == 0:
        return True
    ends = [(int(np.min(side)), int(np.max(side))) for side in (a, b)]
    exactly = {"+": operator.add, "-": operator.sub, "*": operator.mul}[op]
    extremes = [exactly(x, y) for x in ends[0] for y in ends[1]]
    return bool(min(extremes) >= INT64.min and max(extremes) <= INT64.max)


def _shift(op: str, left: Vector, right: Vector) -> Vector:
    """Time plus or minus time, in nanoseconds where a side has them, else in microseconds."""
    if not (left.unit and right.unit and op in "+-"):
        raise ConditionTypeError(f"cannot calculate {_name(left)} {op} {_name(right)}")
    unit = "ns" if "ns" in (left.unit, right.unit) else "us"
    a, b = (replace(in_unit(side, unit), kind=Kind.INTEGER) for side in (left, right))
    counts = _integer(op, a, b)
    if left.kind is right.kind:
        return replace(counts, kind=Kind.INTERVAL)
    result = replace(counts, kind=Kind.TIMESTAMP)
    if unit == "ns":  # int64 ends before the year 10000
        return result
    first, last = YEAR_1 * PER_SECOND[unit], YEAR_10000 * PER_SECOND[unit]
    return result.where((result.values >= first) & (result.values < last))


def half_away(values: Any) -> Any:
    """Whole numbers, rounded half away from zero; numbers too large to have a fraction stay."""
    size = np.abs(values)
    rounded = np.floor(size)
    rounded = rounded + (size - rounded >= 0.5)
    return np.where(size < 2.0**52, np.copysign(rounded, values), values)


def choose(condition: Any, left: Vector, right: Vector) -> Vector:
    """`left` where the condition (a mask or one boolean) is true, `right` elsewhere;
    both of one kind, as `unify` makes them."""
    if isinstance(left.values, pa.Array | pa.Scalar):
        mask = pa.array(condition) if np.ndim(condition) else pa.scalar(bool(condition))
        return replace(left, values=pc.if_else(mask, left.values, right.values))
    values = np.where(condition, left.values, right.values)[()]
    if left.valid is None and right.valid is None:
        return replace(left, values=values)
    sides = [np.True_ if side.valid is None else side.valid for side in (left, right)]
    return replace(left, values=values, valid=np.where(condition, *sides)[()])


def unify(vectors: Sequence[Vector]) -> list[Vector]:
    """The vectors in one kind: numbers as the widest of them, times in the finest unit."""
    kinds = {vector.kind for vector in vectors} - {Kind.NULL}
    if not kinds:
        return list(vectors)
    if Kind.FLOAT in kinds and kinds <= NUMBERS:
        return [_or_null(vector, as_float, Kind.FLOAT) for vector in vectors]
    if Kind.DECIMAL in kinds and kinds <= NUMBERS:
        wide = iter(_wide_decimals([v for v in vectors if v.kind is not Kind.NULL]))
        return _typed([None if v.kind is Kind.NULL else next(wide) for v in vectors], Kind.DECIMAL)
    (kind,) = kinds
    if kind is Kind.STRING:
        return _typed([None if v.kind is Kind.NULL else v.values for v in vectors], kind)
    if kind in TIMES:
        unit = finest(*vectors)
        return [_or_null(vector, lambda v: in_unit(v, unit), kind, unit) for vector in vectors]
    change = as_int64 if kind is Kind.INTEGER else truth
    return [_or_null(vector, change, kind) for vector in vectors]


def in_unit(vector: Vector, unit: str) -> Vector:
    values, fits = rescale(vector, unit)
    return replace(vector, values=values, unit=unit).where(fits)


def _or_null(
    vector: Vector, change: Callable[[Vector], Vector], kind: Kind, unit: str = ""
) -> Vector:
    if vector.kind is not Kind.NULL:
        return change(vector)
    values = np.False_ if kind is Kind.BOOLEAN else np.int64(0)
    return Vector(kind, values, np.False_, unit)


def _typed(data: Sequence[Any], kind: Kind) -> list[Vector]:
    """Arrow data of one type, nulls for None."""
    types = [each.type for each in data if each is not None]
    type_ = pa.large_string() if pa.large_string() in types else types[0]
    return [
        Vector(kind, pa.scalar(None, type_) if each is None else each.cast(type_)) for each in data
    ]


def _name(vector: Vector) -> str:
    return f"a {vector.kind.name.lower()}"
