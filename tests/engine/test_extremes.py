"""Values at the extremes of every type, compared exactly: within an event, between events, as
keys. Python's own arithmetic is the judge."""

from __future__ import annotations

import operator
import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus
from tests.volume import volume

OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge}


def around(*values: int) -> list[Any]:
    return [value + step for value in values for step in (-1, 0, 1)]


def signed(bits: int) -> list[Any]:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return [low + (bits == 64), low + 2, -1, 0, 1, high - 1, high]


def unsigned(bits: int) -> list[Any]:
    return [0, 1, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 2, 2**bits - 1]


def decimals(precision: int, scale: int) -> list[Any]:
    units = 10**precision - 1
    with localcontext(prec=80):
        return [Decimal(n).scaleb(-scale) for n in (-units, -1, 0, 1, units - 1, units)]


TYPES: list[tuple[pa.DataType, list[Any]]] = [
    *((getattr(pa, f"int{bits}")(), signed(bits)) for bits in (8, 16, 32, 64)),
    *((getattr(pa, f"uint{bits}")(), unsigned(bits)) for bits in (8, 16, 32, 64)),
    (pa.int64(), around(2**53, -(2**53))),
    (pa.float32(), [-3.4e38, -0.0, 0.0, 1.0, 3.4e38, float("inf"), -float("inf")]),
    (pa.float64(), [-1.7e308, -0.0, 0.0, 5e-324, 2.0**53, 2.0**53 + 2, float("inf")]),
    *((pa.decimal128(p, s), decimals(p, s)) for p, s in ((9, 2), (17, 2), (18, 6), (19, 0))),
    *((pa.decimal128(p, s), decimals(p, s)) for p, s in ((38, 0), (38, 38), (38, 10))),
    (pa.decimal256(50, 3), decimals(50, 3)),
    (pa.decimal256(76, 0), decimals(76, 0)),
    (pa.decimal32(9, 2), decimals(9, 2)),
    (pa.decimal64(18, 6), decimals(18, 6)),
    (pa.float16(), [-65504.0, -0.0, 0.0, 6.0e-8, 65504.0, float("inf")]),
    (pa.dictionary(pa.int8(), pa.int64()), around(2**62, 2**53)),
    (pa.bool_(), [True, False]),
    (pa.string(), ["", "a", "a\0", "é", "\U0010ffff", "Z"]),
    (pa.large_string(), ["", "a", "b"]),
    (pa.date32(), [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)]),
    (pa.timestamp("us"), [datetime(1, 1, 1), datetime(1970, 1, 1), datetime(9999, 12, 31)]),
    (pa.timestamp("s"), [datetime(1, 1, 1), datetime(2262, 4, 12), datetime(9999, 12, 31)]),
    (pa.date64(), [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)]),
    (pa.timestamp("ms"), [datetime(1, 1, 1), datetime(1970, 1, 1), datetime(9999, 12, 31)]),
    (pa.timestamp("ns"), [1, 2, -(2**63) + 1, 2**63 - 1, 2**62, 2**62 + 1]),
    (
        pa.timestamp("us", "Europe/Berlin"),
        [datetime(1, 1, 2, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)],
    ),
    (pa.duration("us"), [timedelta(0), timedelta(microseconds=1), timedelta(days=-1)]),
    (pa.duration("us"), [2**63 - 1, 2**63 - 2, -(2**63) + 1]),
    (pa.duration("s"), [timedelta(0), timedelta(days=10**6), timedelta(days=-(10**6))]),
    (pa.duration("ns"), [1, 2, 2**62, 2**62 + 1]),
]


def pairs(values: list[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from([None, *values]), min_size=2, max_size=6)


def events(type_: pa.DataType, values: list[Any]) -> pa.Table:
    kinds = ["A" if place % 2 == 0 else "B" for place in range(len(values))]
    return pa.table({"type": kinds, "x": pa.array(values, type_)})


def expected(values: list[Any], op: str) -> list[list[int]]:
    return sorted(
        [i, j]
        for i in range(0, len(values), 2)
        for j in range(1, len(values), 2)
        if i < j and values[i] is not None and values[j] is not None
        if OPERATORS[op](values[i], values[j])
    )


def positions(query: cereus.Query, table: pa.Table) -> list[list[int]]:
    return sorted(query.run(table).table.column("positions").to_pylist())


def types() -> Any:
    return pytest.mark.parametrize(("type_", "values"), TYPES, ids=lambda v: str(v)[:24])


@types()
@settings(max_examples=volume(2, 10))
@given(data=st.data())
def test_between_events(type_: pa.DataType, values: list[Any], data: st.DataObject) -> None:
    drawn, op = data.draw(pairs(values)), data.draw(st.sampled_from(sorted(OPERATORS)))
    if type_ == pa.bool_() and op not in ("=", "!="):
        return
    table = events(type_, drawn)
    wanted = expected(drawn, op)
    ceql = f"SELECT * WHERE (A AS a ; B AS b) FILTER a.x {op} b.x"
    assert positions(cereus.compile(ceql), table) == wanted
    sremo = f"any({{A:}} -> r, {{B: r.x {op} x}})"
    assert positions(cereus.compile(sremo, dialect="sremo"), table) == wanted
    sase = f"PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {{ a.x {op} b.x }}"
    assert positions(cereus.compile(sase, dialect="sase"), table) == wanted


@types()
@settings(max_examples=volume(2, 10))
@given(data=st.data())
def test_within_an_event(type_: pa.DataType, values: list[Any], data: st.DataObject) -> None:
    left, right = data.draw(pairs(values)), data.draw(st.sampled_from(values))
    op = data.draw(st.sampled_from(sorted(OPERATORS)))
    if type_ == pa.bool_() and op not in ("=", "!="):
        return
    table = events(type_, left).append_column("y", pa.array([right] * len(left), type_))
    wanted = [[n] for n, x in enumerate(left) if x is not None and OPERATORS[op](x, right)]
    query = cereus.compile(f"SELECT * WHERE * AS e FILTER e[x {op} y]")
    assert positions(query, table) == wanted


@types()
@settings(max_examples=volume(2, 10))
@given(data=st.data())
def test_as_keys(type_: pa.DataType, values: list[Any], data: st.DataObject) -> None:
    drawn = data.draw(pairs(values))
    table = events(type_, drawn)
    wanted = sorted(
        [i, j]
        for i in range(0, len(drawn), 2)
        for j in range(1, len(drawn), 2)
        if i < j and (drawn[i] == drawn[j])
    )
    assert positions(cereus.compile("SELECT * WHERE A ; B PARTITION BY x"), table) == wanted


REFUSED: list[tuple[pa.DataType, list[Any]]] = [
    (pa.binary(), [b"a", b"b"]),
    (pa.binary(1), [b"a", b"b"]),
    (pa.time32("s"), [time(0), time(1)]),
    (pa.time64("us"), [time(0), time(1)]),
    (pa.month_day_nano_interval(), [(1, 2, 3), (1, 2, 4)]),
    (pa.list_(pa.int64()), [[1], [2]]),
    (pa.struct({"a": pa.int64()}), [{"a": 1}, {"a": 2}]),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("b", 1)]]),
]


@pytest.mark.parametrize(("type_", "values"), REFUSED, ids=lambda v: str(v)[:24])
def test_types_that_conditions_cannot_compare_are_refused_by_name(
    type_: pa.DataType, values: list[Any]
) -> None:
    table = events(type_, values)
    for text in ("(A AS a ; B AS b) FILTER a.x = b.x", "* AS e FILTER e[x = x]"):
        with pytest.raises(cereus.CereusError, match=re.escape(str(type_))):
            cereus.compile(f"SELECT * WHERE {text}").run(table)


DECIMALS = {
    "b.x - a.x > 5": lambda a, b: b - a > 5,
    "b.x + a.x = 0.4": lambda a, b: b + a == 0.4,
    "abs(b.x - a.x) < 0.21": lambda a, b: abs(b - a) < 0.21,
    "b.x / a.x > 1.1": lambda a, b: a != 0 and b / a > 1.1,
    "greatest(a.x, -b.x) > 4": lambda a, b: max(a, -b) > 4,
    "b.x * 2 - a.x > 1": lambda a, b: b * 2 - a > 1,
}


@pytest.mark.parametrize("type_", [pa.decimal128(9, 2), pa.decimal256(40, 4)], ids=str)
@pytest.mark.parametrize("condition", DECIMALS)
@settings(max_examples=volume(5, 60))
@given(data=st.data())
def test_decimals_are_computed_with_as_doubles(
    condition: str, type_: pa.DataType, data: st.DataObject
) -> None:
    texts = ["0.1", "0.3", "5.1", "-3.33", "1234567.89", "0"]
    drawn = data.draw(pairs([Decimal(text) for text in texts]))
    query = cereus.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}")
    table = events(type_, drawn)
    assert query.compiled.plan(table.schema).traits.registers
    expected = [
        [i, j]
        for i in range(0, len(drawn), 2)
        for j in range(i + 1, len(drawn), 2)
        if drawn[i] is not None and drawn[j] is not None
        if DECIMALS[condition](float(drawn[i]), float(drawn[j]))
    ]
    assert positions(query, table) == expected


NANOSECONDS = {
    "b.x - a.x < INTERVAL '2 microseconds'": lambda a, b: b - a < 2_000,
    "b.x > a.x + INTERVAL '1 microsecond'": lambda a, b: b > a + 1_000,
    "b.x - a.x >= INTERVAL '1 minute' OR a.x = b.x": lambda a, b: b - a >= 60 * 10**9 or a == b,
    "NOT b.x - a.x < INTERVAL '1 microsecond'": lambda a, b: not b - a < 1_000,
    "date_trunc('second', b.x) = date_trunc('second', a.x)": lambda a, b: a // 10**9 == b // 10**9,
    "b.x - TIMESTAMP '1970-01-01' < a.x - TIMESTAMP '1970-01-01'": lambda a, b: b < a,
}


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("condition", NANOSECONDS)
@settings(max_examples=volume(5, 60))
@given(data=st.data())
def test_distances_of_nanoseconds_are_exact(
    condition: str, zone: str | None, data: st.DataObject
) -> None:
    """pandas has times in nanoseconds, so the kernel decides conditions on them like others."""
    near = [0, 1, 999, 1_000, 1_001, 2_000, 2_001, 60 * 10**9, 61 * 10**9 - 1, -1, 2**62]
    drawn = data.draw(pairs(near))
    query = cereus.compile(f"SELECT * WHERE A AS a ; B AS b FILTER {condition}")
    table = events(pa.timestamp("ns", zone), drawn)
    assert query.compiled.plan(table.schema).traits.registers
    expected = [
        [i, j]
        for i in range(0, len(drawn), 2)
        for j in range(i + 1, len(drawn), 2)
        if drawn[i] is not None and drawn[j] is not None
        if NANOSECONDS[condition](drawn[i], drawn[j])
    ]
    assert positions(query, table) == expected


@pytest.mark.parametrize("op", ["<", ">="])
def test_a_distance_of_more_nanoseconds_than_64_bits_hold_is_null(op: str) -> None:
    table = events(pa.timestamp("ns"), [-(2**62), 2**62])
    text = f"SELECT * WHERE A AS a ; B AS b FILTER b.x - a.x {op} INTERVAL '1 second'"
    assert positions(cereus.compile(text), table) == []


def test_times_beyond_microseconds_are_refused_by_name() -> None:
    """SASE+ counts times in microseconds; CEQL compares them as they are."""
    table = events(pa.timestamp("s"), [2**60, 2**60])
    assert positions(cereus.compile("SELECT * WHERE A AS a ; B AS b FILTER a.x = b.x"), table)
    query = cereus.compile("PATTERN SEQ(A a, B b) WHERE a.x < b.x", dialect="sase")
    with pytest.raises(cereus.CereusError, match=r"timestamp\[s\] is too far from 1970"):
        query.run(table)


# ---------------------------------------------------------------- sums

SUMMED = [
    (type_, values)
    for type_, values in TYPES
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
]


def exact_sum(values: list[Any], type_: pa.DataType) -> Any:
    """Of integers NULL if it does not fit 64 bits; of decimals the nearest double; of doubles
    from the first to the last."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if pa.types.is_decimal(type_):
        with localcontext(prec=100):
            return float(sum(known))
    total = sum(known)
    return None if isinstance(total, int) and abs(total) >= 2**63 else total


@pytest.mark.parametrize(("type_", "values"), SUMMED, ids=lambda v: str(v)[:24])
@settings(max_examples=volume(2, 10))
@given(data=st.data())
def test_in_sums(type_: pa.DataType, values: list[Any], data: st.DataObject) -> None:
    drawn = pa.array(data.draw(pairs(values)), type_).to_pylist()
    table = pa.table(
        {
            "type": ["A"] * len(drawn) + ["Z"],
            "x": pa.array([*drawn, None], type_),
        }
    )
    runs = [(i, j) for i in range(len(drawn)) for j in range(i, len(drawn))]
    sums = {run: exact_sum(drawn[run[0] : run[1] + 1], type_) for run in runs}
    ceql = cereus.compile("SELECT a WHERE A:+ AS a ; Z FILTER sum(a.x) >= 0")
    found = sorted((row["a"][0], row["a"][-1]) for row in ceql.run(table))
    assert found == [run for run in runs if sums[run] is not None and sums[run] >= 0]
    sase = cereus.compile(
        """PATTERN SEQ(A+ a[], Z z) WHERE sum(a[].x) < 0 OR sum(a[].x) >= 0 RETURN sum(a[].x)""",
        dialect="sase",
    )
    rows = {(row["start"], row["positions"][-2]): row["sum_x"] for row in sase.run(table)}
    assert rows == {run: total for run, total in sums.items() if is_ordered(total)}


def is_ordered(total: Any) -> bool:
    return total is not None and total == total


def test_the_one_integer_that_cannot_be_compared_is_refused_by_name() -> None:
    """The kernel keeps NULL as -2**63."""
    table = events(pa.int64(), [-(2**63), 1])
    query = cereus.compile("SELECT * WHERE (A AS a ; B AS b) FILTER a.x < b.x")
    with pytest.raises(cereus.errors.DataError, match="-9223372036854775808"):
        query.run(table)


def test_decimals_of_different_scales_and_integers_are_compared_exactly() -> None:
    table = pa.table(
        {
            "type": ["A", "B"],
            "x": pa.array([Decimal("100000000000000.01"), None], pa.decimal128(17, 2)),
            "y": pa.array([None, Decimal("100000000000000.010")], pa.decimal128(18, 3)),
            "n": pa.array([2**62, 2**62 + 1], pa.int64()),
            "d": pa.array([None, Decimal(2**62)], pa.decimal128(19, 0)),
        }
    )
    for condition, matches in (("a.x = b.y", 1), ("a.x < b.y", 0), ("a.n = b.d", 1)):
        query = cereus.compile(f"SELECT * WHERE (A AS a ; B AS b) FILTER {condition}")
        assert len(query.run(table)) == matches, condition


def test_literals_are_compared_with_decimals_exactly() -> None:
    cards = [Decimal("12345678901234567"), Decimal("12345678901234568")]
    table = pa.table({"type": ["A", "A"], "card": pa.array(cards, pa.decimal128(19, 0))})
    query = cereus.compile("SELECT * WHERE A FILTER A[card = 12345678901234568]")
    assert positions(query, table) == [[1]]
