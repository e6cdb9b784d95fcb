"""Values at the extremes of every type, compared exactly: within an event, between events, as
keys. Python's own arithmetic is the judge."""

from __future__ import annotations

import operator
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cereus

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
    (pa.bool_(), [True, False]),
    (pa.string(), ["", "a", "a\0", "é", "\U0010ffff", "Z"]),
    (pa.large_string(), ["", "a", "b"]),
    (pa.date32(), [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)]),
    (pa.timestamp("us"), [datetime(1, 1, 1), datetime(1970, 1, 1), datetime(9999, 12, 31)]),
    (pa.timestamp("s"), [datetime(1, 1, 1), datetime(2262, 4, 12), datetime(9999, 12, 31)]),
    (pa.duration("us"), [timedelta(0), timedelta(microseconds=1), timedelta(days=-1)]),
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
@settings(max_examples=12)
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
@settings(max_examples=8)
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
@settings(max_examples=8)
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
