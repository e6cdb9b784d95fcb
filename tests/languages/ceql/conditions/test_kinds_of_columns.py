"""Conditions over decimals, times, booleans and strings: registers decide them as the definition
does, and decimals as the doubles that they are next to."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.languages.ceql.text import parse
from tests.languages.ceql.harness import assert_agrees, rows, sizes
from tests.languages.ceql.pieces import TIMED
from tests.volume import volume

SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "t": pa.int64(),
        "d": pa.decimal128(10, 2),
        "e": pa.decimal128(15, 4),
        "f": pa.decimal128(18, 4),
        "g": pa.decimal128(38, 9),
        "n": pa.int32(),
        "x": pa.int64(),
        "w": pa.float64(),
        "at": pa.timestamp("us"),
        "late": pa.timestamp("us"),
        "ok": pa.bool_(),
        "s": pa.string(),
    }
)
QUARTERS = (None, "-1.25", "0", "0.25", "0.5", "0.5", "1.25", "3")
LONG = ("99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999",
        "18446744073.709551616", "18446744073.709551617", "-18446744073.709551616",
        "9223372036.854775808", "9223372036.854775807", "-0.000000001")  # fmt: skip
"""The greatest decimals of 38 digits, and those around 64 and 63 bits of units."""
MIDNIGHT = datetime(2024, 1, 31)
TIMES = (None, *(MIDNIGHT + timedelta(seconds=seconds) for seconds in (0, 1, 1, 5, 3600)))

DECIMALS = (
    "A:+ AS a ; B AS b FILTER sum(a.d) > 1",
    "A:+ AS a ; B AS b FILTER sum(a.d) >= max(a.d) AND b.n > 0",
    "A:+ AS a ; B AS b FILTER sum(a.f) >= max(a.f)",
    "A:+ AS a ; B AS b FILTER avg(a.d) > b.e OR avg(a.e) = 0.25",
    "A:+ AS a ; B:+ AS b FILTER sum(a.e) = sum(b.d)",
    "A:+ AS a ; B AS b FILTER max(a.d) - min(a.d) > 0.5 OR last(a.e) != first(a.e)",
    "A+ AS a ; B AS b FILTER min(a.f) < b.f AND count(a.f) > 1",
    "A AS a ; B AS b FILTER NOT a.d = b.d AND a.d <= b.f + 1",
    "A AS a ; B AS b FILTER a.f = b.d OR a.f > b.e OR a.d > b.n",
    "A AS a ; B AS b FILTER a.f IS NULL OR NOT b.d != a.e OR a.d BETWEEN b.d AND b.e",
    "A AS a ; B AS b FILTER CASE WHEN a.n > 0 THEN a.d ELSE b.e END > b.n",
    "A AS a ; B AS b FILTER coalesce(a.d, b.e) = least(a.e, b.e)",
    "A:+ AS a ; B FILTER a.d >= prev(a.d) AND a.f != prev(a.f)",
    "A AS a ; B AS b FILTER a.g < b.g",
    "A AS a ; B AS b ; A AS c FILTER a.g <= b.g AND NOT b.g >= c.g",
    "A AS a ; (A OR B) AS b FILTER a.g > b.d OR a.g = b.f OR a.g != b.n AND b.ok",
    "A:+ AS a ; B AS b FILTER first(a.g) <= last(a.g) OR last(a.g) > b.g",
    "A:{2,} AS a ; B FILTER a.g > prev(a.g)",
    "(A AS a ; B AS b) WITHOUT (A AS m FILTER m.g > a.g AND m.g >= 1)",
    "A AS a ; A+ AS d ; B AS b FILTER d.d + a.d > b.f",
    "A+ AS a ; B AS b FILTER a.d != b.e OR a.d > 1",
    "A+ AS a ; A AS b ; B AS c FILTER a.d BETWEEN b.d AND c.d",
    "A:+ AS a ; B FILTER a.d >= 0.5 * sum(a.d) AND a.f <= avg(a.f)",
    "(A AS a ; B AS b) WITHOUT (A AS m FILTER m.d > a.d OR m.e = a.e)",
    "(A AS a ; B AS b) UNLESS (A AS m ; B AS n FILTER NOT m.d = n.e)",
    "A:+ AS a ; B AS b FILTER stddev(a.d) > b.d OR stddev(a.f) = 0",
    "A:+ AS a ; B AS b FILTER sum(a.n) > b.d OR max(a.n) = b.e OR sum(a.d) > 1.5",
    "A:+ AS a ; B AS b FILTER sum(a.d) * 2 > b.w OR sum(a.f) / count(a) < 0.5",
)
"""Over decimals, compared with decimals of other scales, integers and doubles."""
OTHERS = (
    "A:+ AS a ; B AS b FILTER last(a.at) - first(a.at) < INTERVAL '5' SECOND",
    "A:+ AS a ; B AS b FILTER max(a.at) > b.at OR min(a.at) = min(a.late)",
    "A:+ AS a ; B AS b FILTER b.at BETWEEN first(a.at) AND max(a.at) + INTERVAL '1' SECOND",
    "A:+ AS a ; B AS b FILTER first(a.s) = 'a' AND last(a.s) = 'ab'",
    "A:+ AS a ; B AS b FILTER first(a.s) = last(a.s) OR last(a.s) < b.s",
    "A:+ AS a ; B AS b FILTER last(a.s) LIKE 'a%' AND first(a.s) IN ('b', 'ab')",
    "A:+ AS a ; B AS b FILTER upper(concat(first(a.s), b.s)) = 'AB' OR last(a.s) IS NULL",
    "A:+ AS a ; B AS b FILTER first(a.ok) OR NOT last(a.ok) AND b.ok",
    "A+ AS a ; B AS b FILTER max(a.ok) = b.ok AND min(a.ok) != b.ok",
)
CLAUSES = ("", "WITHIN 4 EVENTS", "WITHIN 3 seconds", "PARTITION BY n WITHIN 4 seconds")


def events(draw: Random, size: int = 9) -> list[dict[str, Any]]:
    time, made = 0, []
    for _ in range(size):
        time += draw.choice((0, 1, 1))
        event: dict[str, Any] = {"type": draw.choice("AAB"), "t": time}
        for name, scale in (("d", 2), ("e", 4), ("f", 4), ("g", 9)):
            value = draw.choice(QUARTERS if name != "g" else (*QUARTERS, *LONG))
            with localcontext(prec=50):
                event[name] = value and Decimal(value).quantize(Decimal(10) ** -scale)
        event |= {"n": draw.choice((None, 0, 1)), "x": draw.choice((None, 0, 2))}
        event |= {"w": draw.choice((None, 0.25, 3.0)), "ok": draw.choice((None, True, False))}
        event |= {"at": draw.choice(TIMES), "late": draw.choice(TIMES)}
        made.append(event | {"s": draw.choice((None, "a", "b", "ab"))})
    return made


@pytest.mark.parametrize("pattern", [*DECIMALS, *OTHERS])
def test_registers_give_what_the_definition_gives(pattern: str) -> None:
    for seed in range(volume(6, 40)):
        draw = Random(seed)
        strategy = draw.choice(("", "", "", "NEXT ", "LAST "))
        text = f"SELECT {strategy}* WHERE {pattern} {draw.choice(CLAUSES)}"
        query = cereus.compile(text, stream=TIMED, schema=SCHEMA)
        assert not any("this is slow" in warning for warning in query.warnings)
        stream = events(draw)
        with sizes(chunk=draw.choice((1, 1000)), sweep=draw.choice((1, 1000))):
            found = rows(query.run(pa.Table.from_pylist(stream, SCHEMA)), query.tree)
        try:
            assert_agrees(found, parse(text), TIMED, stream)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {text}\n{error}") from None


SASE = (
    "sum(a[].d) > 1 AND max(a[].d) >= b.d",
    "avg(a[].e) > b.e OR last(a[].f) = b.f",
    "a[i].d > avg(a[..i-1].d) AND a[i].f >= a[i-1].f",
    "stddev(a[].d) < 1 AND a[1].e != b.e",
    "a[a.LEN].d + a[1].e < b.f",
)


@pytest.mark.parametrize("where", SASE)
def test_sase_reads_decimals_like_the_doubles_that_they_are(where: str) -> None:
    text = (
        f"PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) {{ {where} }} WITHIN 9 EVENTS"
    )
    for seed in range(volume(6, 40)):
        table = pa.Table.from_pylist(events(Random(seed), 14), SCHEMA)
        types = {name: pa.float64() for name in "def"}
        doubles = pa.schema([(each.name, types.get(each.name, each.type)) for each in SCHEMA])
        found = []
        for made in (table, table.cast(doubles)):
            query = cereus.compile(text, dialect="sase", stream=TIMED, schema=made.schema)
            assert not any("this is slow" in warning for warning in query.warnings)
            found.append(sorted(row["positions"] for row in query.run(made)))
        assert found[0] == found[1], seed


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("sum(a.f) = 3000000000000000000.001", ["999999999999999.999"] * 3),
        ("sum(a.f) > b.f", ["999999999999999.999"] * 12),
        ("sum(a.f) >= max(a.f) AND sum(a.f) <= max(a.f)", ["123456789012345.678"]),
        ("max(a.f) > b.f AND max(a.f) = 123456789012345.678", ["123456789012345.678"]),
        ("NOT a.f = b.f", ["123456789012345.677"]),
    ],
)
def test_decimals_with_many_digits(condition: str, values: list[str]) -> None:
    """12 of the greatest values do not fit 64 bits. `b.f` differs from a value in the last digit
    of eighteen, which doubles do not tell apart."""
    decimals = [Decimal(value) for value in [*values, "123456789012345.676"]]
    n = len(values)
    table = pa.table(
        {
            "type": ["A"] * n + ["B"],
            "f": pa.array(decimals, pa.decimal128(18, 3)),
            "t": range(n + 1),
        }
    )
    text = f"SELECT * WHERE A:{{{n}}} AS a : B AS b FILTER {condition}"
    query = cereus.compile(text, schema=table.schema)
    assert not any("this is slow" in warning for warning in query.warnings)
    stream = [{**row, "t": 0} for row in table.to_pylist()]
    assert_agrees(rows(query.run(table), query.tree), parse(text), cereus.Stream(), stream)


@pytest.mark.parametrize(
    ("kind", "value", "other"),
    [
        (pa.decimal128(12, 0), 999_999_999_999, pa.decimal128(18, 6)),
        (pa.int32(), 2**31 - 1, pa.decimal128(18, 8)),
    ],
)
def test_sums_are_compared_in_units_of_a_column_with_more_digits(
    kind: pa.DataType, value: int, other: pa.DataType
) -> None:
    """In these units, 50 of the values do not fit 64 bits; in their own they do."""
    n = 50
    table = pa.table(
        {
            "type": ["A"] * n + ["B"],
            "x": pa.array([value] * n + [None], kind),
            "y": pa.array([None] * n + [Decimal("1.5")], other),
        }
    )
    query = cereus.compile(f"SELECT * WHERE A:{{{n}}} AS a : B AS b FILTER sum(a.x) > b.y")
    assert len(query.run(table)) == 1
