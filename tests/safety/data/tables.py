"""Random Arrow tables: columns of every type, with nulls, NaN, infinities and extreme values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pyarrow as pa

Draw = Callable[[Random], Any]
INT64 = (-(2**63), -(2**63) + 1, -1, 0, 1, 2, 2**53, 2**53 + 1, 2**63 - 1)
FLOATS = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, 1.5, -1.7e308, 5e-324)
TEXTS = ("A", "B", "a", "", "é", "a\0b", "\U0010ffff", "x" * 300, "<b>", "'", '"')


def of(*values: Any) -> Draw:
    return lambda draw: draw.choice(values)


def signed(bits: int) -> Draw:
    least = -(2 ** (bits - 1))
    return of(*(value for value in INT64 if least <= value < -least))


def unsigned(bits: int) -> Draw:
    return of(0, 1, 2, 2 ** (bits - 1), 2**bits - 1)


def raw(unit_bits: int = 64) -> Draw:
    """Any integer, for types whose values Python has no class for."""
    return of(*(value for value in INT64 if abs(value) < 2 ** (unit_bits - 1)))


PLAIN: dict[pa.DataType, Draw] = {
    **{getattr(pa, f"int{bits}")(): signed(bits) for bits in (8, 16, 32, 64)},
    **{getattr(pa, f"uint{bits}")(): unsigned(bits) for bits in (8, 16, 32, 64)},
    pa.float16(): of(float("nan"), float("inf"), -0.0, 1.5, 65504.0),
    pa.float32(): of(float("nan"), float("-inf"), 0.0, 1.5, 3e38),
    pa.float64(): of(*FLOATS),
    pa.decimal32(7, 2): of(Decimal("1.50"), Decimal("-99999.99"), Decimal(0)),
    pa.decimal64(17, 3): of(Decimal("1.5"), Decimal("-99999.999"), Decimal(0)),
    pa.decimal128(38, 10): of(Decimal("1.5"), Decimal("9" * 28), Decimal("-0.0000000001")),
    pa.decimal256(60, 0): of(Decimal(1), Decimal("9" * 60), Decimal(0)),
    pa.bool_(): of(True, False),
    pa.date32(): of(date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)),
    pa.date64(): of(date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)),
    pa.time32("s"): of(time(0), time(23, 59, 59)),
    pa.time32("ms"): of(time(0), time(23, 59, 59, 999_000)),
    pa.time64("us"): of(time(0), time(23, 59, 59, 999_999)),
    pa.time64("ns"): of(time(0), time(23, 59, 59, 999_999)),
    **{pa.timestamp(unit): raw() for unit in ("s", "ms", "us", "ns")},
    pa.timestamp("us", "Europe/Berlin"): of(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    pa.timestamp("s", "+05:30"): of(0, 1, 2**31, 2**40),
    pa.timestamp("ns", "UTC"): raw(),
    **{pa.duration(unit): raw() for unit in ("s", "ms", "us", "ns")},
    pa.month_day_nano_interval(): of(pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([0, 0, 0])),
    pa.string(): of(*TEXTS),
    pa.large_string(): of(*TEXTS),
    pa.string_view(): of(*TEXTS),
    pa.binary(): of(b"", b"\xff\0", b"A"),
    pa.large_binary(): of(b"", b"\xff\0"),
    pa.binary_view(): of(b"", b"\xff\0" * 20),
    pa.binary(3): of(b"abc", b"\0\0\0"),
    pa.null(): of(None),
    pa.list_(pa.int64()): of([], [1], [1, None, 2**63 - 1]),
    pa.large_list(pa.string()): of([], ["a", None]),
    pa.list_(pa.float64(), 2): of([1.0, 2.0], [float("nan"), 0.0]),
    pa.list_view(pa.int32()): of([], [1, 2]),
    pa.large_list_view(pa.string()): of([], ["a", None]),
    pa.list_(pa.list_(pa.int64())): of([], [[]], [[1], None]),
    pa.list_(pa.struct([("a", pa.int64())])): of([], [{"a": 1}, None]),
    pa.list_(pa.string_view()): of([], ["a" * 20]),
    pa.list_(pa.dictionary(pa.int8(), pa.string())): of([], ["a", "b"]),
    pa.struct([("a", pa.int64()), ("b", pa.string())]): of({"a": 1, "b": "x"}, {"a": None}),
    pa.struct([]): of({}),
    pa.struct([("a", pa.struct([("b", pa.float16())]))]): of({"a": {"b": 1.5}}, {"a": None}),
    pa.map_(pa.string(), pa.list_(pa.int64())): of([], [("a", [1, None])]),
    pa.map_(pa.string(), pa.int64()): of([], [("a", 1)]),
    pa.uuid(): of(UUID(int=0).bytes, UUID(int=2**128 - 1).bytes),
    pa.json_(): of("{}", "[1, 2]"),
    pa.bool8(): of(0, 1),
    pa.fixed_shape_tensor(pa.int32(), [2]): of([1, 2], [0, -1]),
    pa.opaque(pa.binary(), "box", "tests"): of(b"", b"\xff"),
}


class Celsius(pa.ExtensionType):
    """An extension type of ours."""

    def __init__(self) -> None:
        super().__init__(pa.float64(), "tests.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Celsius:
        return cls()


STORED = tuple(kind for kind in PLAIN if not isinstance(kind, pa.BaseExtensionType))
NUMBERS = tuple(
    kind
    for kind in PLAIN
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
)
TEXT_TYPES = (pa.string(), pa.large_string(), pa.string_view())
FITTING = {"x": NUMBERS, "y": NUMBERS, "s": TEXT_TYPES}
"""Types that most conditions can be about."""


def column(draw: Random, name: str, rows: int) -> pa.Array:
    """A column of any type: encoded, sliced, with or without nulls."""
    fitting = FITTING.get(name, tuple(PLAIN)) if draw.random() < 0.75 else tuple(PLAIN)
    plain = values(draw, draw.choice(fitting), rows)
    way = draw.random()
    if way < 0.03:
        return pa.ExtensionArray.from_storage(Celsius(), values(draw, pa.float64(), rows))
    if way < 0.04:
        return union(draw, rows)
    if way < 0.2:
        return encoded(plain)
    if way < 0.25:
        return run_ends(draw, rows)
    return sliced(plain) if way < 0.5 else plain


def values(draw: Random, type_: pa.DataType, rows: int) -> pa.Array:
    nulls = draw.choice((0.0, 0.0, 0.2, 1.0))
    drawn = [None if draw.random() < nulls else PLAIN[type_](draw) for _ in range(rows)]
    if isinstance(type_, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type_, pa.array(drawn, type_.storage_type))
    return pa.array(drawn, type_)


def encoded(plain: pa.Array) -> pa.Array:
    try:
        return plain.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return plain


def run_ends(draw: Random, rows: int) -> pa.Array:
    type_ = draw.choice(STORED)
    ends = sorted({draw.randrange(1, rows + 1) for _ in range(3)} | {rows}) if rows else []
    return pa.RunEndEncodedArray.from_arrays(
        pa.array(ends, pa.int32()), values(draw, type_, len(ends))
    )


def union(draw: Random, rows: int) -> pa.Array:
    types = pa.array([draw.randrange(2) for _ in range(rows)], pa.int8())
    children = [values(draw, pa.int64(), rows), values(draw, pa.string(), rows)]
    if draw.random() < 0.5:
        return pa.UnionArray.from_dense(types, pa.array(range(rows), pa.int32()), children)
    return pa.UnionArray.from_sparse(types, children)


def sliced(plain: pa.Array) -> pa.Array:
    """The same values behind an offset."""
    try:
        return pa.concat_arrays([plain, plain]).slice(len(plain), len(plain))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return plain


def table(draw: Random, names: tuple[str, ...]) -> pa.Table:
    """Columns of any type under these names. Mostly the types of events are text and the times go
    forward, so that a query runs."""
    rows = draw.choice((0, 1, 2, 9, 9, 30)) if draw.random() < 0.98 else 3_000
    columns = {name: column(draw, name, rows) for name in names}
    if draw.random() < 0.85:
        kinds = pa.array([draw.choice(("A", "B", "C", None)) for _ in range(rows)], pa.string())
        way = draw.choice((kinds, kinds, kinds.cast(pa.string_view()), kinds.dictionary_encode()))
        columns["type"] = way
    if draw.random() < 0.8:
        columns["ts"] = times(draw, rows)
    if draw.random() < 0.1:
        columns.pop(draw.choice(names))
    return pa.table(columns)


def times(draw: Random, rows: int) -> pa.Array:
    """Times in order, of several types; now and then at the ends of what there is."""
    begin = draw.choice((0, 0, 0, -(2**63), 2**63 - 40, -(2**40)))
    steps = [draw.choice((0, 1, 1, 5)) for _ in range(rows)]
    instants = [min(begin + sum(steps[: i + 1]), 2**63 - 1) for i in range(rows)]
    type_ = draw.choice([*(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")), pa.int64()])
    return pa.array(instants, type_)
