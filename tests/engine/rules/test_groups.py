"""Rules of one shape in one kernel: what they have in common, and which events reach which rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cereus
from cereus.engine import COMPILED
from cereus.engine.interrupts import bounded
from cereus.engine.rules import routing
from cereus.engine.rules.executor import GroupExecutor
from cereus.errors import LimitError
from cereus.language.together import Running, run_together
from cereus.sources import source

STREAM = cereus.Stream(time="t", unit="s")
NAMES = [f"n{number}" for number in range(20)]


def runs(texts: Mapping[str, str], events: pa.Table, **options: Any) -> list[Running]:
    queries = cereus.compile_many(texts, stream=STREAM, schema=events.schema, **options)
    compiled = {name: query.compiled for name, query in queries.queries.items()}
    return run_together(compiled, events.schema, lambda q: q.executor(events.schema))


def assert_as_alone(texts: Mapping[str, str], events: pa.Table, **stream: Any) -> None:
    options: dict[str, Any] = {"stream": cereus.Stream(time="t", unit="s", **stream)}
    queries = cereus.compile_many(texts, schema=events.schema, **options)
    found = queries.run(events)
    for name, text in texts.items():
        alone = cereus.compile(text, schema=events.schema, **options).run(events)
        assert sorted(map(str, found[name])) == sorted(map(str, alone)), text


def events_of(**columns: Any) -> pa.Table:
    size = len(next(iter(columns.values())))
    return pa.table({"type": ["A", "B"] * (size // 2), "t": list(range(size)), **columns})


def test_queries_that_differ_in_constants_run_as_one() -> None:
    events = events_of(name=NAMES, x=list(range(20)))
    texts = {n: f"SELECT * WHERE A ; B FILTER A[name = '{n}'] WITHIN 5 seconds" for n in NAMES}
    texts |= {f"other {n}": "SELECT * WHERE A : B WITHIN 5 seconds" for n in range(3)}
    made = runs(texts, events)
    assert [isinstance(run.executor, GroupExecutor) for run in made] == [False] * 3 + [True]
    assert set(made[-1].names.values()) == set(NAMES)


def test_an_event_reaches_only_the_rules_that_ask_for_it() -> None:
    events = events_of(name=NAMES, x=list(range(20)))
    texts = {
        n: f"SELECT * WHERE A ; B FILTER A[name = '{n}' and x > 1] AND B[name = '{n}']"
        for n in NAMES
    }
    (run,) = runs(texts, events)
    list(run.push(events.to_batches()[0]))
    assert isinstance(run.executor, GroupExecutor)
    read = run.executor.runner.history.rows
    assert read.tolist() == list(range(2, 20, 2))  # a B goes to no rule, as its A did not come


def test_events_that_all_rules_ask_for_reach_those_with_something_begun() -> None:
    events = events_of(name=NAMES, x=list(range(20)))
    texts = {n: f"SELECT * WHERE A ; B FILTER A[name = '{n}'] WITHIN 1 seconds" for n in NAMES}
    (run,) = runs(texts, events)
    assert sum(batch.num_rows for _, batch in run.push(events.to_batches()[0])) == 10
    assert isinstance(run.executor, GroupExecutor)
    assert len(run.executor.runner.history.rows) == 20  # of 10 + 10 · 20 pairs


@pytest.mark.parametrize(
    ("column", "constants"),
    [
        pytest.param(pa.array([*range(10), *range(10)]), range(10), id="integers"),
        pytest.param(pa.array([2**53 + n for n in range(20)]), range(2**53, 2**53 + 9), id="large"),
        pytest.param(pa.array([1.5, None, float("nan"), -0.0] * 5), (0, 1.5, 2, -1, *range(5, 10)),
                     id="floats"),
        pytest.param(pa.array([3, 200] * 10, pa.uint8()), range(0, 250, 25), id="small"),
        pytest.param(pa.array(["a", "b", None, "é"] * 5), "abcdéfghij", id="words"),
        pytest.param(pa.array(["a", "b", None, "é"] * 5).dictionary_encode(), "abcdéfghij",
                     id="dictionary"),
        pytest.param(pa.array([datetime(2025, 1, 1 + n) for n in range(20)]),
                     [f"2025-01-{n:02} 00:00:00" for n in range(1, 12)], id="times"),
    ],
)  # fmt: skip
def test_comparisons_of_every_type_answer_as_alone(column: pa.Array, constants: Any) -> None:
    events = events_of(x=column)
    written = [f"'{c}'" if isinstance(c, str) else str(c) for c in constants]
    if pa.types.is_timestamp(column.type):
        written = [f"TIMESTAMP {each}" for each in written]
    conditions = ["x = {}", "{} > x", "x != {}", "x BETWEEN {} AND {}", "x IN ({}, {})"]
    conditions += ["x >= {} and x < {}"]
    for condition in conditions:
        texts = {
            str(n): f"SELECT * WHERE A ; B FILTER A[{condition.format(one, two)}] WITHIN 2 seconds"
            for n, (one, two) in enumerate(zip(written, [*written[1:], *written], strict=False))
        }
        assert_as_alone(texts, events)


@pytest.mark.parametrize("pattern", ["A ; B", "A : B", "A ; B+", "(A OR B) ; B", "START(A) ; B"])
@pytest.mark.parametrize("keys", [(), ("k",)])
@pytest.mark.parametrize(
    "clauses", ["", "WITHIN 3 seconds", "WITHIN 4 EVENTS", "WITHIN 3 seconds LIMIT 1",
                "WITHIN 3 seconds CONSUME BY PARTITION"]
)  # fmt: skip
def test_clauses_answer_as_alone(pattern: str, keys: tuple[str, ...], clauses: str) -> None:
    draw = np.random.default_rng(19)
    events = events_of(x=draw.integers(0, 10, 18), k=draw.integers(0, 3, 18))
    texts = {str(n): f"SELECT * WHERE {pattern} FILTER A[x > {n}] {clauses}" for n in range(10)}
    assert_as_alone(texts, events, keys=keys)


def test_a_limit_names_the_rule() -> None:
    events = events_of(name=["n3"] * 20, x=list(range(20)))
    texts = {n: f"SELECT * WHERE A ; A FILTER A[name = '{n}']" for n in NAMES}
    with pytest.raises(LimitError, match="the rule 'n3'"):
        cereus.compile_many(texts, stream=STREAM, limits=cereus.Limits(matches_per_event=1)).run(
            events
        )


def test_rows_of_a_sorted_input_have_the_numbers_of_the_input() -> None:
    events = events_of(x=list(range(20))).take(pa.array(range(19, -1, -1)))
    texts = {str(n): f"SELECT * WHERE A ; B FILTER A[x > {n}] WITHIN 2 seconds" for n in range(9)}
    found = cereus.compile_many(texts, stream=STREAM).run(events, sort=True)
    for name, text in texts.items():
        alone = cereus.compile(text, stream=STREAM).run(events, sort=True)
        assert found[name].table == alone.table
    assert source(events, STREAM, sort=True).row_numbers is not None


ROWS, RULES = 4_096, 4_096
PLACES, EVERY_RULE = np.arange(ROWS), np.arange(RULES, dtype=np.int32)
NO_CODES, AT_ZERO = np.zeros(0, np.int32), np.zeros(ROWS, np.int64)
ROUTES: dict[str, Callable[[], object]] = {
    "rules that pass": lambda: routing.passing_pairs(
        PLACES, AT_ZERO, AT_ZERO + RULES, EVERY_RULE, NO_CODES, np.zeros((0, 1)), np.zeros((0, 1))
    ),
    "pairs of several tests": lambda: routing.merged_pairs(
        PLACES,
        np.zeros(ROWS, np.uint64),
        np.repeat(PLACES, RULES),
        np.tile(EVERY_RULE, ROWS),
        np.array([0, ROWS * RULES]),
        np.ones(1, np.uint64),
        RULES,
    ),
    "rules that are awake": lambda: routing.awake_pairs(
        np.zeros(0, np.int64),
        NO_CODES,
        NO_CODES,
        np.zeros(1, np.uint8),
        PLACES,
        np.zeros(ROWS, np.int32),
        np.zeros(ROWS, np.int32),
        AT_ZERO,
        AT_ZERO,
        np.zeros(RULES, np.int32),
        1,
        np.zeros(RULES, np.int64),
    ),
}


@pytest.mark.skipif(not COMPILED, reason="uncompiled, Python itself looks for Ctrl-C")
@pytest.mark.parametrize("route", ROUTES)
def test_pairs_of_rows_and_rules_lead_to_looks_for_ctrl_c(route: str) -> None:
    with bounded(10**9) as work:
        ROUTES[route]()
    assert work.done >= 3
