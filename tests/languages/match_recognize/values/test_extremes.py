"""Values at the ends of their types: NaN, infinities, zeros with a sign, integers of 64 bits with a
sign and without, decimals, times far off. On every path there are the matches of the reference."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.errors import CereusError
from cereus.languages.match_recognize.explaining.costs import is_searched
from cereus.languages.match_recognize.match.program import automaton
from cereus.languages.match_recognize.match.rows import two_passes
from cereus.languages.match_recognize.match.runs import find
from cereus.languages.match_recognize.text import parse
from cereus.reference import match_recognize as reference
from tests.volume import volume

LARGE = 2**63
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "x": (pa.int64(), [LARGE - 1, LARGE - 2, -LARGE, 1 - LARGE, 2**62, -(2**62), 2**53 + 1,
                       -1, 0, 1, 3, None]),
    "u": (pa.uint64(), [0, 1, 2 * LARGE - 1, LARGE - 1, LARGE, LARGE + 1, None]),
    "z": (pa.float64(), [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308, -1.7e308, 1.5,
                         2.0**53 + 2, None]),
    "f": (pa.float64(), [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, 2.0, 3.0, -4.0, None]),
    "d": (pa.decimal128(26, 6), [*map(Decimal, ("99999999999999999999.999999", "0.000001", "1.5",
                                 "-99999999999999999999.999999", "0", LARGE - 1, LARGE)), None]),
    "t": (pa.timestamp("us"), [datetime(1677, 9, 21, 0, 12, 43, 145225), datetime(1970, 1, 1),
                               datetime(2262, 4, 11, 23, 47, 16, 854775), datetime(1, 1, 1),
                               datetime(2262, 4, 11, 23, 47, 17),
                               datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
}  # fmt: skip
"""What is added up as floats (f) is small: large numbers would depend on the order."""
PATTERNS = ("a b* c", "a b*? c", "a+ b", "a b+ c", "a (b | c)* d", "(a | b)+ c", "a b{2,14} c",
            "a b{13,} c", "a b*? c d*? b", "b+", "^ a b* c $", "a? b+ c*")  # fmt: skip
CONDITIONS = (
    "x > {o}.x", "x >= FIRST(x)", "x + 1 > {o}.x", "x - {o}.x <= 3", "abs(x - {o}.x) > 1",
    "-x < {o}.x", "x * 2 > {o}.x", "x * {o}.x >= 0", "sum({o}.x) > 0", "sum({o}.x) <= x",
    "sum({v}.x) IS NULL OR x > 0", "avg({o}.x) > x", "avg({o}.x) <= 0", "max({o}.x) = x",
    "max({o}.x) - min({o}.x) > 5", "sum({o}.x) - count(*) > x", "x / {o}.x > 0", "x % 3 = 1",
    "MOD(x, {o}.x) = 0", "x <> {o}.x", "x > 1.5 * {o}.x", "x > 9223372036854775806",
    "x IN (9223372036854775807, 0, -1)", "x BETWEEN {o}.x AND 9223372036854775807",
    "u > {o}.u", "u >= FIRST(u)", "u = {o}.u", "u - 1 > {o}.u", "sum({o}.u) > u",
    "max({o}.u) > u", "u > x", "u = {o}.x", "avg({o}.u) > 5",
    "z > {o}.z", "z = {o}.z", "z <> {o}.z", "z - {o}.z > 0", "z * {o}.z > 0", "max({o}.z) > z",
    "min({o}.z) <= z", "max({o}.z) = z", "z > 1.5 * {o}.z", "z / {o}.z > 1", "NOT (z > {o}.z)",
    "NOT (max({o}.z) <= z)", "greatest(z, {o}.z) = z", "least(z, {o}.z) < 2",
    "sum({o}.f) > f", "avg({o}.f) <= f", "NOT (sum({o}.f) > f)", "stddev({o}.f) > 1",
    "f > 1.5 * avg({o}.f)", "sum({o}.f * {o}.f) / sum({o}.f) > f", "median({o}.f) > f",
    "percentile({o}.f, 0.25) < f", "bool_and({o}.f > 1)", "max_by({o}.x, {o}.z) > x",
    "min_by({o}.z, {o}.x) > z", "var_pop({o}.f) >= 0", "f * count(*) > sum({o}.f)",
    "d > {o}.d", "d = {o}.d", "max({o}.d) > d", "d > x", "d = {o}.x", "d - {o}.d > 0",
    "d > 1.01 * {o}.d", "d / {o}.d > 1.5", "abs(d - {o}.d) < 2", "d > avg({o}.f)", "d <= 2 * {o}.x",
    "greatest(d, {o}.f) > 1", "-d < {o}.d",
    "t > {o}.t", "t >= FIRST(t) + INTERVAL '3' SECOND", "t - {o}.t < INTERVAL '2' DAY",
    "t + INTERVAL '1' DAY > {o}.t", "max({o}.t) > t", "t - INTERVAL '300' DAY < {o}.t",
    "PREV(x) < x", "NEXT(z) > z", "PREV(d) < d", "PREV(x, 2) - x > 0",
)  # fmt: skip
MEASURES = (
    "CLASSIFIER() AS v", "sum(x) AS s", "max(z) AS m, min(z) AS l", "avg(x) AS s", "sum(f) AS s",
    "max(d) AS m",
    "LAST(t) - FIRST(t) AS s", "max(u) AS m, sum(u) AS s, avg(u) AS w", "x - FIRST(x) AS s",
    "abs(x) AS s, -x AS m", "median(z) AS m", "stddev(f) AS m", "max_by(x, z) AS m",
    "array_agg(z) AS m", "percentile(x, 0.25) AS m", "max(t) AS m", "x * x AS m, x % 7 AS s",
)  # fmt: skip


def drawn_clause(draw: Random) -> str:
    pattern = draw.choice(PATTERNS)
    names = sorted(set(re.findall("[abcd]", pattern)))

    def condition() -> str:
        return draw.choice(CONDITIONS).format(v=draw.choice(names), o=draw.choice(names))

    defined = [f"{name} AS {condition()}" for name in names if draw.random() < 0.75]
    defined = defined or [f"{names[-1]} AS {condition()}"]
    if draw.random() < 0.25:
        defined[-1] += f" {draw.choice(['AND', 'OR'])} {condition()}"
    rows = draw.choice(["", "ALL ROWS PER MATCH"])
    skip = draw.choice(["", "AFTER MATCH SKIP TO NEXT ROW"])
    return f"""MATCH_RECOGNIZE ({draw.choice(["", "PARTITION BY k "])}ORDER BY ts
        MEASURES FIRST(ts) AS first, count(*) AS n, {draw.choice(MEASURES)} {rows} {skip}
        PATTERN ({pattern}) DEFINE {", ".join(defined)})"""


def drawn_table(draw: Random, rows: int) -> pa.Table:
    """Some of the values of each column, so that some of them come several times."""

    def cells(values: list[Any]) -> list[Any]:
        some = draw.sample(values, draw.randrange(2, len(values) + 1))
        return [draw.choice(some) for _ in range(rows)]

    drawn = {name: pa.array(cells(values), kind) for name, (kind, values) in COLUMNS.items()}
    return pa.table({"k": [draw.choice("pqq") for _ in range(rows)], "ts": range(rows), **drawn})


def plain(value: Any) -> Any:
    """Numbers as the nearest ones of nine digits: floats are added up in another order."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, float | int | Decimal) and not isinstance(value, bool):
        return f"{float(value) + 0.0:.9g}"
    return value


def comparable(run: Callable[[], list[dict[str, Any]]]) -> Any:
    try:
        return sorted(repr({name: plain(cell) for name, cell in row.items()}) for row in run())
    except CereusError as error:
        return type(error)


def emitted(text: str, table: pa.Table) -> Any:
    query = cereus.compile(text, dialect="match_recognize", schema=table.schema)
    return comparable(lambda: query.run(table, threads=1).table.to_pylist())


def expected(text: str, table: pa.Table) -> Any:
    return comparable(lambda: reference.run(parse(text), table.to_pylist(), table.column_names))


@pytest.fixture(params=["usually", "leaping"])
def leaping(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaps, lines and bits instead of numbered sets, from the first row on."""
    if request.param == "leaping":
        monkeypatch.setattr(find, "FREE_WORK", 0)
        monkeypatch.setattr(find, "WORK_PER_ROW", 0)
        monkeypatch.setattr(two_passes, "FEW_SETS", 0)


def most_rows(text: str) -> int:
    """Loops that go several ways, and what is searched, have as many runs as there are ways."""
    clause = parse(text)
    searched = is_searched(clause, automaton(clause.pattern))
    return 9 if searched or "|" in text or re.search(r"\bu\b|\.u\b", text) else 30


@pytest.mark.usefixtures("leaping")
@pytest.mark.parametrize("block", range(4))
def test_extreme_values_have_the_matches_of_the_definition(block: int) -> None:
    for seed in range(block, volume(40, 320), 4):
        draw = Random(seed)
        text = drawn_clause(draw)
        table = drawn_table(draw, draw.choice([5, 9, most_rows(text)]))
        assert emitted(text, table) == expected(text, table), (seed, text)


# ---------------------------------------------------------------- what was wrong


def measured(measures: str, **columns: pa.Array) -> list[dict[str, Any]]:
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures} ALL ROWS PER MATCH PATTERN (a+))"
    (length,) = {len(column) for column in columns.values()}
    table = pa.table({"ts": range(length), **columns})
    rows: list[dict[str, Any]] = (
        cereus.compile(text, dialect="match_recognize").run(table).table.to_pylist()
    )
    return rows


def test_a_sum_that_just_fits_64_bits_is_not_null() -> None:
    """As floats, 2**63 - 1 and 2**63 are one number."""
    rows = measured("sum(x) AS s", x=pa.array([LARGE - 1, -1, 2, -LARGE, -LARGE]))
    assert [row["s"] for row in rows] == [LARGE - 1, LARGE - 2, None, 0, -LARGE]


def test_an_average_is_that_of_the_exact_sum() -> None:
    """The floats 2**62 and 2**62 + 1 are one number; their sums were added up as floats."""
    rows = measured("avg(x) AS v", x=pa.array([2**62 + 1, -(2**62), LARGE - 1, LARGE - 1]))
    assert [row["v"] for row in rows] == [2.0**62, 1 / 2, LARGE / 3, (2 * LARGE - 1) / 4]


def test_sums_of_integers_without_a_sign_are_integers() -> None:
    """As in the other languages; they were doubles."""
    rows = measured("sum(u) AS s, avg(u) AS v", u=pa.array([LARGE - 2, 1, 1, None], pa.uint64()))
    assert [row["s"] for row in rows] == [LARGE - 2, LARGE - 1, None, None]
    assert [row["v"] for row in rows][1:] == [(LARGE - 1) / 2, LARGE / 3, LARGE / 3]


def test_zeros_with_and_without_a_sign_are_one_value() -> None:
    """Of several rows with the greatest value, the first one counts."""
    rows = measured("max_by(x, z) AS m", x=pa.array([1, 2]), z=pa.array([-0.0, 0.0]))
    assert [row["m"] for row in rows] == [1, 1]


@pytest.mark.parametrize(("sign", "matches"), [("=", 0), (">", 1), ("<", 0)])
def test_integers_without_a_sign_are_compared_exactly(sign: str, matches: int) -> None:
    """They were read as doubles where they lie beyond those with a sign."""
    text = f"MATCH_RECOGNIZE (ORDER BY ts MEASURES a.x AS m PATTERN (a b) DEFINE b AS u {sign} a.x)"
    columns = {"u": pa.array([0, LARGE], pa.uint64()), "x": pa.array([LARGE - 1, 0], pa.int64())}
    query = cereus.compile(text, dialect="match_recognize")
    assert len(query.run(pa.table({"ts": [0, 1], **columns}))) == matches


ENDS = (LARGE - 1, LARGE - 2, -LARGE, 1 - LARGE, 2**62, -(2**62), 2**32, -(2**31), 3, -1, 0, 1, 2)


@pytest.mark.parametrize("operation", ["x + a.x", "x - a.x", "x * a.x", "x % a.x", "abs(x - a.x)"])
def test_results_that_just_fit_64_bits_are_not_null(operation: str) -> None:
    """From 9.2e18 on they were NULL, and the remainder of the least number had another sign."""
    pairs = [(left, right) for left in ENDS for right in ENDS]
    table = pa.table({"ts": range(2 * len(pairs)), "x": [each for pair in pairs for each in pair],
                      "k": [place // 2 for place in range(2 * len(pairs))]})  # fmt: skip
    for wanted in (f"{operation} IS NULL", f"{operation} > 0", f"{operation} <= a.x"):
        text = f"""MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(ts) AS f
            PATTERN (a b) DEFINE b AS {wanted})"""
        found = emitted(text, table)
        assert found == expected(text, table), wanted
        assert found
