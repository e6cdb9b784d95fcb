"""Conditions on registers that the compiled kernel decides, and those that it leaves to states."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import cereus
from cereus.languages.sremo.text import parse
from cereus.reference import sremo as reference

Events = list[dict[str, Any]]
NAN = float("nan")
NINE = datetime(2025, 3, 3, 9, tzinfo=UTC)
SCHEMA = pa.schema(
    {
        "type": pa.string(),
        "x": pa.int64(),
        "w": pa.float64(),
        "s": pa.string(),
        "b": pa.bool_(),
        "at": pa.timestamp("us", "UTC"),
    }
)
ROWS = [
    ("A", 1, 1.0, "a", True, 0),
    ("B", 2, 0.5, "b", False, 1),
    ("B", 3, NAN, "a", None, 2),
    ("A", None, 2.0, None, True, 4),
    ("B", 1, 1.5, "b", True, 5),
    ("C", 4, None, "a", False, 9),
    ("C", 2, 1.0, "b", True, 11),
]
EVENTS: Events = [
    dict(zip(SCHEMA.names, (*row[:-1], NINE + timedelta(minutes=row[-1])), strict=True))
    for row in ROWS
]
PATTERN = "any({{A:}} -> r, {{B:}} -> q, {{C: {}}})"


def checked(text: str) -> cereus.Query:
    """The query, which finds what the definitions say."""
    query = cereus.compile(text, dialect="sremo")
    rows = query.run(pa.Table.from_pylist(EVENTS, SCHEMA)).table["positions"].to_pylist()
    assert sorted(map(tuple, rows)) == reference.matches(parse(text), EVENTS)
    return query


@pytest.mark.parametrize(
    "condition",
    [
        "x > r.x OR w > q.w",
        "x > r.x OR s = 'b'",
        "NOT x > r.x",
        "NOT (x > r.x AND (q.w < w OR b))",
        "r.x IS NULL",
        "r.x IS NOT NULL AND (q.w IS NULL OR s != r.s)",
        "r.x < q.x",
        "r.x + q.x <= x",
        "x - r.x = q.x - 1",
        "abs(x - r.x) % 2 = 0",
        "greatest(x, r.x, q.x) = x",
        "w != q.w",
        "w != q.w + 1",
        "x BETWEEN r.x AND q.x + 1",
        "x IN {1, 2} OR q.x IN {1, 3}",
        "s != q.s OR s = r.s",
        "b = r.b AND NOT q.b",
        "(x > q.x) = b",
        "at - r.at < INTERVAL '10 minutes'",
        "at < q.at + INTERVAL '7 minutes' OR at - r.at > INTERVAL '6 minutes'",
        "length(r.s) + length(q.s) = 2",
        "x > r.x OR NULL",
    ],
)
def test_the_kernel_decides(condition: str) -> None:
    query = checked(PATTERN.format(condition))
    assert query.compiled.plan(SCHEMA).traits.registers, query.compiled.plan(SCHEMA).why_values
    checked(f"DETECT {PATTERN.format(condition)}")


@pytest.mark.parametrize(
    "text",
    [
        "next({A:} -> r, {B: x > r.x})",
        "next({A:} -> r, {x > r.x OR s = r.s})",
        "next({A:} -> r, {x > r.x + 2})",
        "next({A:} -> r, {NOT x <= r.x + 2})",
        "next({A:} -> r, {B: NOT x = r.x} -> q, {x > r.x AND w < q.w})",
        "next({A:} -> r, skip{B: x >= r.x AND w != r.w} -> q, {C: x > q.x OR x > r.x})",
        "next(({A:} -> r | {B:} -> q), {x > r.x OR NOT w > q.w})",
        "next(({x > r.x OR NOT x = r.x} -> r)+)",
        "({A:} -> r)? . {x + r.x > 1 OR NOT s = r.s} -> r . {NOT (x > r.x OR w > r.w)}",
    ],
)
def test_the_kernel_decides_what_is_skipped_and_where_registers_are_empty(text: str) -> None:
    assert checked(text).compiled.plan(SCHEMA).traits.registers


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{A:} -> r . !{x > r.x} . {C:}", "! has to follow every run of a part that compares"),
        (
            "{A:} -> r . !(skip* . {B: x > r.x} . {B:} . skip*) . {C:}",
            "! has to follow what reads a register that is set before it",
        ),
        ("{A:} -> r . (skip* . {x > r.x} WITHIN 9 [at]) . {}", "a window of its own inside"),
        ("{A:} -> r . ({} -> q & {x > r.x OR x > q.x})", "one side of & reads a register that"),
    ],
)
def test_what_is_left_to_states_that_remember_values(text: str, why: str) -> None:
    plan = cereus.compile(text, dialect="sremo").compiled.plan(SCHEMA)
    assert plan.traits.remembers_values and str(plan.why_values).startswith(why), plan.why_values


def test_a_register_that_is_empty_is_asked_nothing() -> None:
    plan = cereus.compile("({A:} -> r)? . {B: x > r.x OR w > 1}", dialect="sremo").explain(SCHEMA)
    assert "if (w > 1) → " in plan or "if w > 1 → " in plan
    assert "if ((x > r0) OR (w > 1)) → " in plan


def test_a_value_that_is_compared_in_two_ways_is_kept_once() -> None:
    text = PATTERN.format("x = r.x AND (w > q.w OR x + 1 = r.x)")
    assert cereus.compile(text, dialect="sremo").compiled.plan(SCHEMA).slots == 2


@pytest.mark.parametrize("condition", ["s < r.s", "concat(s, r.s) = q.s"])
def test_functions_of_several_strings_are_looked_up(condition: str) -> None:
    plan = cereus.compile(PATTERN.format(condition), dialect="sremo").compiled.plan(SCHEMA)
    assert plan.traits.registers


def test_an_event_that_no_test_passes_ends_no_wait_for_what_must_not_occur() -> None:
    table = pa.table({"type": list("AADC"), "x": [1] * 4})
    text = "{A:} . !(skip* . skip{A:} -> u . skip{B: x > u.x} . skip*) . {C:}"
    rows = cereus.compile(text, dialect="sremo").run(table).table["positions"].to_pylist()
    assert sorted(rows) == [[0, 3], [1, 3]]
